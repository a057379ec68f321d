"""Rules on pages: a rule that is declared after exact answers about its table were shown is marked until confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from dpsyn_core.privacy.looks import remember, remembered
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.linked import LinkedSchema
from ui.shared.text import literal, t
from ui.shared.theme import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpsyn_core.schema.attributes.base import SchemaRule
    from ui.shared.state import Linked, Workspace


def names(*spaces: Workspace) -> tuple[str, ...]:
    """What looks at the tables that rules of these are about are kept by: the content, and the name on the ledger.

    The shell knows a table by its name alone. None for samples, which protect nobody.
    """
    real = [s.dataset for s in spaces if s.dataset is not None and not s.dataset.sample]
    return tuple(name for data in real for name in (data.serial, data.ledger))


def of_linked(linked: Linked) -> tuple[str, ...]:
    """As `names`, of the tables that are linked."""
    return names(*linked.parts.values())


def see(tables: Sequence[str]) -> None:
    """Writes down that exact answers about these tables are shown. Raises OutputError."""
    for name in tables:
        remember(name, "rules")


def source(tables: Sequence[str]) -> Literal["public", "data"] | None:
    """Where a rule comes from that is declared now; None for a rule about no table that is loaded: its run asks."""
    if not tables:
        return None
    return "data" if any(remembered(name, "rules") for name in tables) else "public"


def marked(tables: Sequence[str], documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rules that are declared now, each with where it comes from unless it says so itself."""
    now = source(tables)
    return [rule if rule.get("source") or now is None else rule | {"source": now} for rule in documents]


def taken(tables: Sequence[str], schema: Schema) -> Schema:
    """A schema that is taken from a file: its rules that do not say where they come from are declared now."""
    now = source((*tables, schema.ledger_name) if tables else ())
    rules = tuple(r if r.source else r.model_copy(update={"source": now}) for r in schema.rules)
    return schema.model_copy(update={"rules": rules})


def taken_linked(linked: Linked, schema: LinkedSchema) -> LinkedSchema:
    """As `taken`, with the rules of all tables and of all links."""
    document, tables = schema.document(), of_linked(linked)
    asked = (*tables, schema.ledger_name) if tables else ()
    for held in (*document["links"], *(one["schema"] for one in document["tables"] if one.get("schema"))):
        if held.get("rules"):
            held["rules"] = marked(asked, held["rules"])
    return LinkedSchema.of(document)


def confirm(rules: Sequence[SchemaRule], *, key: str) -> bool:
    """Says which rules were chosen after a look, with the button that confirms them. Whether it was pressed."""
    read = [rule for rule in rules if rule.source == "data"]
    if not read:
        return False
    with st.container(border=True, key=f"{key}_read"):
        note(t("rules.read", rules=literal("; ".join(str(r)[:200] for r in read))), "alarm")
        return st.button(t("unit.known"), key=f"{key}_known", help=t("rules.known_help"))
