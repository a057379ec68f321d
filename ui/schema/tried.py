"""Looks on pages: what is declared after exact answers about its table were shown is marked until it is confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from dpsyn_core.privacy import Look, remember, remembered
from dpsyn_core.schema import LinkedSchema, Schema
from ui.shared.access import shared
from ui.shared.jobs import hashed
from ui.shared.text import literal, t
from ui.shared.theme import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpsyn_core.schema import Rule
    from ui.shared.state import Linked, Workspace


def names(*spaces: Workspace) -> tuple[str, ...]:
    """Returns the keys under which looks at these tables are kept: by content, and by name on the ledger.

    Samples have none, since they protect nobody.
    """
    real = [(s.owner, s.dataset) for s in spaces if s.dataset is not None and not s.dataset.sample]
    return tuple(key for owner, data in real for key in (data.serial, ledger_key(owner, data.ledger)))


def ledger_key(owner: str, ledger: str) -> str:
    """Returns the key of looks at whatever has this name on the ledger.

    On a server for one person it is the name alone, by which the shell finds the look too. On a shared server it
    includes the visitor: two visitors may give their tables one name, and what one of them saw marks no rule of the
    other.
    """
    return f"{hashed(owner)} {ledger}" if shared() else ledger


def of_release(space: Workspace, ledger: str, serial: str) -> tuple[str, ...]:
    """Returns the keys of looks at the table behind a release, which need not be loaded.

    Of one that is not, only the keys under which rules were tried: where none were, its refit asks by the name on the
    ledger, under which the shell remembers looks.

    Args:
        space: of the visitor.
        ledger: the name of the table on the ledger, as the manifest of the release has it.
        serial: of the table, where it is known; empty: it is not.
    """
    loaded = names(space) if space.dataset is not None and space.dataset.ledger == ledger else ()
    known = (ledger_key(space.owner, ledger), *((serial,) if serial else ()))
    return (*loaded, *(key for key in known if seen([key])))


def of_linked(linked: Linked) -> tuple[str, ...]:
    """As `names`, of the tables that are linked."""
    return names(*linked.parts.values())


def see(tables: Sequence[str], what: Look = "rules") -> None:
    """Writes down that exact answers about these tables are shown. Raises OutputError."""
    for name in tables:
        remember(name, what)


def seen(tables: Sequence[str], what: Look = "rules") -> bool:
    """Whether such answers about any of these tables were shown."""
    return any(remembered(name, what) for name in tables)


def source(tables: Sequence[str]) -> Literal["public", "data"] | None:
    """Where a rule comes from that is declared now; None for a rule about no table that is loaded: its run asks."""
    if not tables:
        return None
    return "data" if seen(tables) else "public"


def marked(
    tables: Sequence[str], documents: Sequence[dict[str, Any]], *, proposed: bool = False
) -> list[dict[str, Any]]:
    """Rules that are declared now, each with where it comes from unless it says so itself.

    proposed: the headers propose them, and a person agrees.
    """
    now: str | None = source(tables)
    now = "proposed" if proposed and now == "public" else now
    return [rule if rule.get("source") or now is None else rule | {"source": now} for rule in documents]


def taken(space: Workspace, schema: Schema) -> Schema:
    """Returns a schema from a file: its rules that do not say where they come from are declared now."""
    now = source(_asked(schema, space))
    rules = tuple(r if r.source else r.model_copy(update={"source": now}) for r in schema.rules)
    return schema.model_copy(update={"rules": rules})


def taken_linked(linked: Linked, schema: LinkedSchema) -> LinkedSchema:
    """As `taken`, with the rules of all tables and of all links."""
    document, asked = schema.document(), _asked(schema, *linked.parts.values())
    for held in (*document["links"], *(one["schema"] for one in document["tables"] if one.get("schema"))):
        if held.get("rules"):
            held["rules"] = marked(asked, held["rules"])
    return LinkedSchema.of(document)


def _asked(schema: Schema | LinkedSchema, *spaces: Workspace) -> tuple[str, ...]:
    """Returns the keys of looks at these tables, under their names and under the name that a schema gives them."""
    tables = names(*spaces)
    return (*tables, ledger_key(spaces[0].owner, schema.ledger_name)) if tables else ()


def confirm(rules: Sequence[Rule], *, key: str) -> bool:
    """Says which rules were chosen after a look, with the button that confirms them. Whether it was pressed."""
    read = [rule for rule in rules if rule.source == "data"]
    if not read:
        return False
    with st.container(border=True, key=f"{key}_read"):
        note(t("rules.read", rules=literal("; ".join(str(r)[:200] for r in read))), "alarm")
        return st.button(t("unit.known"), key=f"{key}_known", help=t("rules.known_help"))
