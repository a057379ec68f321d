"""One column on the Privacy page, live: how many records each of its values has, and the noise that would lie on them.

The practice table is shown at first, for an epsilon that is chosen by looking at private counts tells about them; an
owner who wants to may see a column of the own table, tagged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.data import loading
from ui.shared.charts import Figure, bars, chart
from ui.shared.results import kept
from ui.shared.state import Workspace
from ui.shared.text import amount, counted, figure_words, literal, number, sentence, t
from ui.shared.theme import note, palette, private_tag, section, show

if TYPE_CHECKING:
    import pyarrow as pa

    from dpsyn_core.schema import Schema

MOST = 60  # bars that can be told apart
USUAL = 14  # bars of the column that is shown at first, about
LABEL = 14  # characters of a value under its bar
SIDE = 1.96  # standard deviations on each side, between which 95 of 100 noisy counts fall
HEIGHT = 280


def panel(space: Workspace, epsilon: float, noise: float) -> None:
    """The chart under its finding, with the choice of a column. noise: standard deviation of a cell, in records."""
    from dpsyn_core.report import axis_labels

    own = space.dataset is not None and space.schema is not None and space.dataset.whole is not None
    practice = space.linked is not None or not own or space.sample or space.choices.safe
    title, chosen = st.columns([7, 3], vertical_alignment="bottom")
    below = st.container()
    if not practice:
        practice = not st.toggle(t("band.own"), key="band_own", help=t("band.own_help"), persist_state="session")
    if not practice or (own and space.sample and space.linked is None):
        table, schema = space.dataset.whole, space.schema  # type: ignore[union-attr]
    else:
        table, schema = loading.bundled("sample")
    columns = [a.name for a in schema.coded if 1 < schema[a.name].size <= MOST]  # type: ignore[union-attr,index]
    if not columns or table is None or schema is None:
        return
    with chosen:
        usual = min(range(len(columns)), key=lambda i: abs(schema[columns[i]].size - USUAL))
        label, key = t("band.column"), f"band_column_{practice}"
        name = st.selectbox(label, columns, usual, format_func=literal, key=key, label_visibility="collapsed")
    with below:
        try:
            counts = counted_values(space, table, schema, name)
            labels = axis_labels(schema[name].labels(), LABEL, words=figure_words())
        except DPSynError as error:
            note(sentence(error), "warning")
            return
        if not practice:
            private_tag()
        about = t("band.alt", column=name, side=number(round(SIDE * noise)))
        show(_figure(labels, counts, SIDE * noise), alt=about, key="band_plot", height=HEIGHT)
        note(t("band.note" if not practice or space.sample else "band.practice"))
    with title:
        lost = sum(n < SIDE * noise for n in counts)
        values = {"all": number(len(counts)), "column": name, "epsilon": amount(epsilon)}
        section(counted("band.finding", lost, **values) if lost else t("band.finding_none", **values))


def counted_values(space: Workspace, table: pa.Table, schema: Schema, name: str) -> list[int]:
    """The number of records of each value of a column; private, kept for this visitor."""
    import numpy as np

    from dpsyn_core.schema import Codec

    def counts() -> list[int]:
        codes = Codec(schema).encode(table, individuals=False).codes
        at = [a.name for a in schema.coded].index(name)
        return list(np.bincount(codes[at], minlength=schema[name].size).tolist())

    own = space.dataset is not None and table is space.dataset.whole
    return kept(space, ("counts", space.serial, own, schema.dumps(), name), counts)


def _figure(labels: list[str], counts: list[int], side: float) -> Figure:
    """Bars of the counts with the band around each; the axis hangs on the counts alone, so that the band moves."""
    colours, records, top = palette(), t("band.records"), 1.25 * max(*counts, 1)
    low = [max(0.0, n - side) for n in counts]
    high = [n + side - x for n, x in zip(counts, low, strict=True)]  # above the base of its bar
    hover = t("band.hover", side=number(round(side)))
    band = bars(labels, high, t("band.band"), colours.accent, base=low, opacity=0.8, hovertemplate=hover)
    across = {"type": "category", "showgrid": False}
    up = {"range": [0, top], "title": {"text": records}, "tickformat": ",~r"}
    layout = {"barmode": "overlay", "bargap": 0.15, "xaxis": across, "yaxis": up}
    return chart(bars(labels, counts, records, colours.real, opacity=0.5), band, layout=layout)
