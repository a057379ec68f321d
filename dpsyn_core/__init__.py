"""DPSyn Studio engine: from a private table to a differentially private one.

Public names load when they are first used, so that `import dpsyn_core` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpsyn_core.errors import DPSynError

__version__ = "0.1.0"

_HOME = {
    "DPSynError": "dpsyn_core.errors",
}
__all__ = ["DPSynError"]


def __getattr__(name: str) -> Any:
    """Loads a public name."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    msg = f"module 'dpsyn_core' has no attribute '{name}'"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*__all__, "__version__"])
