"""Three ways to keep text of many values, each with its price: a public list, beginnings of codes, a purchase."""

from typing import Any

import streamlit as st

from dpsyn_core.measure import Wanted, people_needed
from dpsyn_core.privacy import Budget, Unit
from dpsyn_core.schema import Schema, built_in, list_of
from ui.shared import uploads
from ui.shared.faults import refusals
from ui.shared.text import amount, number, t
from ui.shared.theme import note

PRICE = Budget(epsilon=0.5, delta=1e-9)  # of a purchase, as an example: it is set where it is made


def panel(schema: Schema, column: str, mark: str) -> dict[str, Any] | None:
    """Draws the ways; returns the public entry of the column once a list is chosen, None before."""
    wanted = [Wanted(name=column, kind="categorical")]
    needed = people_needed(wanted, Unit.of(schema.unit), PRICE)[column]
    note(t("guide.offers", people=number(needed), epsilon=amount(PRICE.epsilon)))
    words: dict[str, Any] = {"format_func": list_words, "placeholder": t("guide.list_choose")}
    known = st.selectbox(t("guide.list"), list(built_in()), index=None, key=f"list_{mark}", **words)
    got = uploads.one(t("guide.list_file"), ("txt", "csv", "tsv"), key=f"list_file_{mark}")
    if not st.button(t("guide.list_save"), key=f"list_save_{mark}", disabled=known is None and got is None):
        return None
    with refusals():
        one = list_of(got.getvalue(), got.name) if got is not None else built_in()[known or ""]
        return one.attribute(column)
    return None


def list_words(name: str) -> str:
    """What a list that ships with the package is, in the visitor's language."""
    kind, _, size = name.partition(":")
    return t(f"guide.list_{kind.replace('-', '_')}", count=size)


def values_words(values: list[Any]) -> str | None:
    """The name of the list that ships with the package and has just these values; None for others."""
    found = next((n for n, one in built_in().items() if list(one.values) == list(values)), None)
    return None if found is None else list_words(found)


def is_offered(document: dict[str, Any] | None) -> bool:
    """Whether a proposal is of text: one that is left out, or a list of values."""
    return document is None or document["kind"] == "categorical"
