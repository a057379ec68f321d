"""DPSyn Studio engine: from a private table to a differentially private one.

Public names load when they are first used, so that `import dpsyn_core` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpsyn_core.kernel_cache import settle
from dpsyn_core.version import __version__ as __version__  # so that it is exported

if TYPE_CHECKING:
    from dpsyn_core.errors import DPSynError
    from dpsyn_core.privacy import Ledger
    from dpsyn_core.report import answer
    from dpsyn_core.runs import Release, buy_schema, refit, synthesize, synthesize_to
    from dpsyn_core.runs import TableSynthesizer as Synthesizer
    from dpsyn_core.schema import Schema, with_list
    from dpsyn_core.schema import confirm as confirm_schema
    from dpsyn_core.schema import draft as draft_schema
    from dpsyn_core.tables import read_table

_HOME = {
    "DPSynError": "dpsyn_core.errors:DPSynError",
    "Ledger": "dpsyn_core.privacy.ledger.ledger:Ledger",
    "Release": "dpsyn_core.runs.release:Release",
    "Schema": "dpsyn_core.schema.document:Schema",
    "Synthesizer": "dpsyn_core.runs.synthesizer:TableSynthesizer",
    "answer": "dpsyn_core.report.answers:answer",
    "buy_schema": "dpsyn_core.runs.purchase:buy_schema",
    "confirm_schema": "dpsyn_core.schema.drafts.confirmation:confirm",
    "draft_schema": "dpsyn_core.schema.drafts.draft:draft",
    "read_table": "dpsyn_core.tables.read:read_table",
    "refit": "dpsyn_core.runs.refits.refit:refit",
    "synthesize": "dpsyn_core.runs.synthesis:synthesize",
    "synthesize_to": "dpsyn_core.runs.parts:synthesize_to",
    "with_list": "dpsyn_core.schema.code_lists:with_list",
}
__all__ = [
    "DPSynError", "Ledger", "Release", "Schema", "Synthesizer", "answer", "buy_schema", "confirm_schema",
    "draft_schema", "read_table", "refit", "synthesize", "synthesize_to", "with_list",
]  # fmt: skip

settle()  # before any part of the package imports numba


def __getattr__(name: str) -> Any:
    """Loads a public name."""
    if name in _HOME:
        module, _, function = _HOME[name].partition(":")
        return getattr(import_module(module), function)
    msg = f"module 'dpsyn_core' has no attribute '{name}'"
    raise AttributeError(msg)
