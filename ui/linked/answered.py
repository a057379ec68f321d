"""The answers of a run of linked tables to its questions: figures with intervals, beside what the tables say."""

from typing import Any

from dpsyn_core.schema import LinkedSchema
from ui.linked import files
from ui.linked.asking import few
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import literal, number, percent, t
from ui.shared.theme import lead, note, section, table

MOST = 200  # figures of one question that the page shows


def panel(space: Workspace, job: Job) -> None:
    """A table for all questions of one figure, and one for each that has several; from released values alone."""
    found, schema = files.answers(space, job), results.tree(space, job)
    single = [one for one in found if len(one["figures"]) == 1 and not one["figures"][0]["labels"]]
    heads = [t("linked.asked_answer"), t("linked.asked_between"), t("linked.column_synthetic")]
    section(t("linked.view_asked"))
    if single:
        rows = [[_called(schema, one), *_cells(one["figures"][0])] for one in single]
        table([t("linked.asked_question"), *heads], rows, alt=t("linked.view_asked"))
    for one in (one for one in found if one not in single):
        lead(literal(_called(schema, one)))
        labels = list(one["figures"][0]["labels"]) if one["figures"] else []
        rows = [[" · ".join(str(x) for x in f["labels"].values()), *_cells(f)] for f in one["figures"][:MOST]]
        table([" · ".join(labels), *heads], rows, alt=literal(one["question"]))
        if len(one["figures"]) > MOST:
            note(t("linked.asked_cut", shown=number(MOST), all=number(len(one["figures"]))))
    if found:
        note(t("linked.asked_note", confidence=percent(found[0]["confidence"], 0)))


def _called(schema: LinkedSchema, one: dict[str, Any]) -> str:
    """A question's name, and of how many records of a root it is."""
    most = one.get("at_most")
    return str(one["question"]) if most is None else f"{one['question']} ({few(schema, most)})"


def _cells(figure: dict[str, Any]) -> list[str]:
    """Answer, interval and what the synthetic tables say; a dash where there is none."""
    low, high = figure["low"], figure["high"]
    between = "–" if low is None or high is None else t("linked.asked_ends", low=number(low), high=number(high))
    answer, table_says = ("–" if figure[what] is None else number(figure[what]) for what in ("estimate", "synthetic"))
    return [answer, between, table_says]
