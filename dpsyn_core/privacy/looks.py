"""Looks: which exact answers about a private table its owner was shown, as far as a later choice may rest on them.

A rule, a limit or a link that somebody declares after such an answer may come from the table. So the answer is written
down before it is shown, as an empty file beside the ledger whose name is a digest: no restart, no other process and no
second loading of the same files forgets it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from dpsyn_core.errors import OutputError
from dpsyn_core.files import home

# rules: how many records break them, or do not fit the schema; unit: what limits, keys and orders of individuals keep
Look = Literal["rules", "unit"]


def remember(table: str, what: Look) -> None:
    """Writes down that an answer is shown. table: its name on the ledger, or its serial in the app. Raises OutputError.

    Called before the answer is computed, so that none is shown that could be forgotten.
    """
    place = _place(table, what)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.touch(mode=0o600)
    except OSError as error:
        msg = (
            f"that rules or limits were tried on the table cannot be written down ({error.strerror}); let DPSYN_HOME "
            "name a folder that you may write to"
        )
        raise OutputError(msg) from error


def remembered(table: str, what: Look) -> bool:
    """Whether such an answer about a table of this name was shown on this machine."""
    return _place(table, what).exists()


def untold(rules: Iterable[Any], *names: str | None) -> tuple[str, ...]:
    """Why rules that do not say where they come from undo the promise: rules were tried on the table before.

    names: under which the table stands on the ledger.
    """
    silent = [r for r in rules if r.source is None]
    if not silent or not any(remembered(name, "rules") for name in names if name is not None):
        return ()
    reason = "does not say where it comes from, and rules were tried on the private table"
    return tuple(f"the rule '{str(r)[:200]}' {reason}" for r in silent)


def _place(table: str, what: Look) -> Path:
    return home() / "looks" / hashlib.sha256(f"{what}\n{table}".encode("utf-8", "surrogatepass")).hexdigest()
