"""Any marginal, read off released ones on a page: columns, how it is read, its table and its file. Charges nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, get_args

import streamlit as st

from dpsyn_core.estimate import ReconstructionRule
from dpsyn_core.questions import ReadingSettings
from ui.shared.downloads import download
from ui.shared.faults import refusals
from ui.shared.text import local, number, t
from ui.shared.theme import digits, marked, note

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpsyn_core.estimate import Measurement, Reconstruction
    from dpsyn_core.schema import Schema

MOST = 8  # columns of one marginal; with more, its cells outnumber the records of any usual table
MOST_CELLS = 100_000  # of one marginal: rows of the table on the page and in the file
SHOWN = 1_000  # rows that the page shows
READER = "marginals_reader"  # of a session: brings released tables to agree once, for every marginal of them
REMOVALS = ("ripple", "norm_sub", "norm_cut", "none")


def columns(schema: Schema, *, key: str) -> list[str]:
    """The columns that are chosen; empty where there are none yet, or where they have too many cells."""
    every, words = [a.name for a in schema.coded], t("answers.choose")
    names: list[str] = st.multiselect(
        t("answers.columns"), every, key=f"{key}_columns", max_selections=MOST, placeholder=words
    )
    cells = math.prod(schema[name].size for name in names)
    if cells > MOST_CELLS:
        note(t("answers.too_many", cells=number(cells), most=number(MOST_CELLS)), "alarm")
        return []
    return names


def settings(*, key: str) -> dict[str, Any]:
    """How marginals are read; every setting that there is."""
    usual = ReadingSettings()
    with st.expander(t("reading.settings"), key=f"{key}_reading"):
        left, right = st.columns(2, gap="medium")
        with left:
            rule = _named("rule", get_args(ReconstructionRule), key)
            rounds = _whole("rounds", 1000, usual.rounds, key)
        with right:
            removal = _named("removal", REMOVALS, key)
            sweeps = _whole("sweeps", 100_000, usual.sweeps, key)
    return {"reconstruction": rule, "nonnegativity": removal, "rounds": rounds, "sweeps": sweeps}


def _named(name: str, options: Sequence[str], key: str) -> str:
    """One setting of several ways, each with a sentence."""
    more: dict[str, Any] = {"help": t(f"reading.{name}_help"), "persist_state": "session"}
    ways = {way: t(f"reading.{way.replace('-', '_')}") for way in options}
    return str(st.selectbox(t(f"reading.{name}"), options, key=f"{key}_{name}", format_func=ways.__getitem__, **more))


def _whole(name: str, most: int, usual: int, key: str) -> int:
    """One setting that is a whole number."""
    more: dict[str, Any] = {"help": t(f"reading.{name}_help"), "persist_state": "session"}
    return int(st.number_input(t(f"reading.{name}"), 1, most, usual, key=f"{key}_{name}", **more))


def read(
    measured: Sequence[Measurement], schema: Schema, names: list[str], how: dict[str, Any]
) -> Reconstruction | None:
    """The marginal; None where it cannot be read, with the reason on the page."""
    from dpsyn_core.runs import reader_of

    kept = st.session_state.get(READER)
    with refusals():
        if kept is None or kept[0] is not measured or kept[1:3] != (schema, how):
            kept = st.session_state[READER] = (measured, schema, how, reader_of(measured, schema, how))
        with st.spinner(t("asked.working")):
            return kept[3].read(names)
    return None


def shown(found: Reconstruction, schema: Schema, *, key: str) -> pd.DataFrame:
    """The table of a marginal, and in a sentence what it rests on."""
    from dpsyn_core.runs import as_table

    made: pd.DataFrame = as_table(found, schema).to_pandas()
    frame(made, {"count": 1}, key=key)
    if found.sigma is not None:
        note(t("reading.held", sigma=local(found.sigma, ".3g")))
    else:
        note(t("reading.made", residual=local(found.residual, ",.1f")), "warning")
    if found.apart:
        note(t("reading.apart", apart=local(found.apart, ",.1f")), "warning")
    if found.wide:
        note(t("reading.wide"), "warning")
    return made


def frame(whole: pd.DataFrame, decimals: dict[str, int], *, key: str) -> None:
    """The first rows of what was released, with so many decimals by column, and how many there are in all."""
    rows, alt = marked(whole.head(SHOWN).round(decimals)), t("answers.table_alt")
    st.dataframe(rows, hide_index=True, key=f"{key}_table", alt=alt, column_config=digits(decimals))
    if len(whole) > SHOWN:
        note(t("answers.cut", shown=number(SHOWN), all=number(len(whole))))


def csv_of(frame: pd.DataFrame) -> bytes:
    """The file of a marginal; cells that a spreadsheet would run are written as text."""
    import pyarrow as pa

    from dpsyn_core.tables import csv_bytes

    return csv_bytes(pa.Table.from_pandas(frame, preserve_index=False))


def csv_button(frame: pd.DataFrame, name: str, *, key: str) -> None:
    """The file of a marginal."""
    download(t("answers.csv"), name, csv_of(frame), key=f"{key}_csv")


def panel(measured: Sequence[Measurement], schema: Schema, *, key: str, private: bool) -> None:
    """All of it, for released marginals of any system. private: False marks the file NOT PRIVATE."""
    note(t("reading.lead"))
    names = columns(schema, key=key)
    how = settings(key=key)
    if not names:
        return
    found = read(measured, schema, names, how)
    if found is not None:
        csv_button(shown(found, schema, key=key), f"marginal{'' if private else '-NOT-PRIVATE'}.csv", key=key)
