"""Several runs side by side: the error of every finished run by system and epsilon, with the band over its repeats."""

from collections import defaultdict

import numpy as np
import streamlit as st

from dpsyn_core.report import figures
from ui.report import comparing
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.tables import one_name
from ui.shared.text import figure_words, local, percent, t
from ui.shared.theme import note, private_tag, show


def panel(space: Workspace, runs: list[Job]) -> None:
    """One row a system and epsilon, from the second run on; the bar reaches from the best to the worst of its runs."""
    if len(runs) < 2 or space.choices.safe or not st.toggle(t("several.title"), key="several_open"):
        return
    private_tag()
    runs = [job for job in runs if results.same_table(space, job)]
    table = _table(space, runs[0]) if runs else ""
    if runs and runs[0].spec.linked and not table:
        note(t("several.none"))
        return
    groups: dict[tuple[str, float], list[float]] = defaultdict(list)
    for job in runs:
        comparison = comparing.of(space, job, table=table)
        if comparison is not None and len(comparison.domain) > 1:
            side = comparing.part(space, job, table)
            groups[(job.spec.method, job.spec.epsilon)].append(comparing.pairs(space, side, comparison).mean)
    if not groups:
        note(t("several.none"))
        return
    named = {t("run.label", method=m, epsilon=local(e, "g")): v for (m, e), v in groups.items()}
    figure = figures.runs_plot(named, figure_words())
    ordered = sorted(named.items(), key=lambda item: min(item[1]))
    cells = [(name, len(v), percent(min(v)), percent(max(v)), _band(v)) for name, v in ordered]
    heads = [t(f"several.{what}") for what in ("run", "count", "best", "worst", "band")]
    rows = [dict(zip(heads, row, strict=True)) for row in cells]
    show(figure, key="several")
    note(figure.caption)
    note(t("several.charged"))
    st.dataframe(rows, hide_index=True, key="several_table", alt=figure.caption)


def _table(space: Workspace, job: Job) -> str:
    """Which of the linked tables that have pairs of columns is compared; empty for one table."""
    names = [name for name, schema in results.named_schemas(space, job) if len(schema.domain()) > 1]
    return one_name(names, key="several_which") if job.spec.linked and names else ""


def _band(values: list[float]) -> str:
    """Mean and 95 % interval of the mean over repeats; blank for a single run."""
    if len(values) < 2:
        return ""
    from scipy.stats import t as student

    half = float(student.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return f"{percent(float(np.mean(values)))} ± {percent(half)}"
