"""What a plan foretells: where the budget goes, and the expected error by number of records and epsilon."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.report import grid_figure
from dpsyn_core.runs import EPSILONS, SIZES, Outlook, RunSpec, outlook, plan
from dpsyn_core.schema import Schema
from ui.privacy.plan import ALONE, FAIR, HASHED, bar, parts_of, verdict
from ui.shared.downloads import download
from ui.shared.text import amount, number, percent, sentence, t
from ui.shared.theme import lead, note, section, show

if TYPE_CHECKING:
    from collections.abc import Sequence


def shown(run: RunSpec, schema: Schema, n_records: int) -> None:
    """All of it, or the sentence with which the system refuses."""
    try:
        made = plan(run, schema, n_records=n_records)
        found = _outlook(run, schema.dumps(), n_records, _schema=schema)
    except DPSynError as error:
        note(sentence(error), "alarm")
        return
    here = next(o for o in found if (o.epsilon, o.n_records) == (run.epsilon, n_records))
    errors = {k: e for k, e in (("1-way", here.columns), ("2-way", here.pairs)) if e is not None}
    lead(verdict(n_records, run.epsilon, errors, alone={s.kind for s in made.steps} <= ALONE))
    section(t("plan.title"))
    bar(parts_of(made))
    section(t("ahead.grid"))
    _grid(found, "columns")
    if any(o.pairs is not None for o in found):
        _grid(found, "pairs")
    note(t("ahead.assumed"))
    download(t("ahead.csv"), "plan.csv", lambda: csv_of(found), key="plan_csv")


@st.cache_data(show_spinner=False, max_entries=50, scope="session", hash_funcs=HASHED)
def _outlook(run: RunSpec, text: str, n_records: int, _schema: Schema) -> list[Outlook]:
    """The forecasts at the usual epsilons and sizes and at those that are chosen; from public knowledge alone."""
    epsilons, sizes = sorted({*EPSILONS, run.epsilon}), sorted({*SIZES, n_records})
    return outlook(run, _schema, epsilons=epsilons, sizes=sizes)


def _grid(found: Sequence[Outlook], what: str) -> None:
    """One heat map; colours end at FAIR times four, where a table is of no use at any shade."""
    epsilons = list(dict.fromkeys(o.epsilon for o in found))
    sizes = list(dict.fromkeys(o.n_records for o in found))
    at = {(o.epsilon, o.n_records): getattr(o, what) for o in found}
    values = [[at[e, n] for n in sizes] for e in epsilons]
    texts = [["–" if v is None else _short(v) for v in row] for row in values]
    good = [(e, n) for e in epsilons for n in sizes if (v := at[e, n]) is not None and v <= FAIR]
    kind = t(f"ahead.{what}")
    finding = t("ahead.none_fair", what=kind, fair=percent(FAIR, 0))
    if good:
        least = {e: min(n for d, n in good if d == e) for e, _ in good}
        pairs = "; ".join(t("ahead.from", n=number(n), epsilon=amount(e)) for e, n in least.items())
        finding = t("ahead.fair", what=kind, fair=percent(FAIR, 0), pairs=pairs)
    st.markdown(f"**{kind}**")
    show(
        grid_figure(
            [amount(e) for e in epsilons], [number(n) for n in sizes], values, texts, across=t("ahead.records"),
            down=t("ahead.epsilon"), hover=t("ahead.hover", what=kind), most=4 * FAIR, caption=finding, alt=finding,
        ),
        key=f"plan_grid_{what}",
    )  # fmt: skip
    note(finding)


def _short(share: float) -> str:
    return percent(share, 0 if share >= FAIR else 1 if share >= FAIR / 10 else 2)


def csv_of(found: Sequence[Outlook]) -> str:
    """The forecasts as a table: epsilon, records, expected error of single columns and of measured pairs."""
    out = io.StringIO()
    out.write("epsilon,n_records,columns,pairs\n")
    for o in found:
        ends = ["" if v is None else f"{v:.6g}" for v in (o.columns, o.pairs)]
        out.write(f"{o.epsilon:g},{o.n_records},{','.join(ends)}\n")
    return out.getvalue()
