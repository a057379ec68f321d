"""Overview of linked tables: how much of what ties them is kept, three figures that show it, and what they rest on."""

import streamlit as st

from dpsyn_core.errors import MetricError
from dpsyn_core.report import build
from dpsyn_core.runs import LinkVerdict, LinkViews
from ui.linked import limits, relations
from ui.report import comparing
from ui.report.look import look
from ui.report.overview import finding
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import figure_words, percent, sentence, t
from ui.shared.theme import lead, note, section, table

MOST = 3  # links that the sentence names, those of which least is kept
ACROSS, CHILDREN = "parent x child", "children"
METRICS = {CHILDREN: "children", ACROSS: "across", "siblings": "siblings"}  # in keys of texts


def panel(space: Workspace, job: Job) -> None:
    """The sentence, the worst column, what ties two tables and is furthest off, numbers of children, and all scores."""
    if space.linked is not None:
        limits.look(space.linked, ())  # of the real numbers of children
    found = relations.verdicts(space, job) or []
    for one in (one for one in relations.keys(space, job) if not one.hold):
        note(relations.key_words(one), "alarm")
    across = [v for v in found if v.metric == ACROSS]
    tied = [v for v in across if v.kept is not None]
    least = sorted(tied, key=lambda v: v.kept or 0)[:MOST]
    of = [t("linked.kept_between", kept=percent(v.kept or 0, 0), **v.ends) for v in least]
    lead(t("linked.kept_lead", list=", ".join(of)) if of else t("linked.nothing_tied"))
    made, real = comparing.separate(space, job), comparing.real_tables(space, job) or {}
    views = results.kept(space, ("link views", job.id), lambda: LinkViews.of(results.tree(space, job), made, real))
    left, middle, right = st.columns([3, 4, 3], gap="medium")
    with left:
        _column(space, job)
    if across:
        with middle:
            _pair(views, max(tied or across, key=lambda v: v.worst or 0.0))
    with right:
        _children(views, max((v for v in found if v.metric == CHILDREN), key=lambda v: v.value - v.fresh))
    with st.expander(t("linked.all"), key="links_all"):
        _scores(space, job, found)


def _column(space: Workspace, job: Job) -> None:
    """Of all columns of all tables the one that is furthest beyond a fresh sample."""
    every = [look(space, [job], name) for name, _ in results.named_schemas(space, job)]
    views = {view.table: view for view in every if view is not None}
    scores = {name: view.score(view.first, "tvd-1way") for name, view in views.items()}
    found = build.furthest({n: s for n, s in scores.items() if not isinstance(s, MetricError)})
    if found is None:
        return
    table, column, off, fresh = found
    said = t("overview.column", a=f"{table}.{column}", off=percent(off), fresh=percent(fresh))
    drawn = build.column({t("word.synthetic"): views[table].first.comparison}, column, figure_words())
    finding(said, drawn, key="linked_column")


def _pair(views: LinkViews, v: LinkVerdict) -> None:
    c = views.pair(v.scope, v.columns)
    above, own = c.domain.names
    both, _ = build.pair(c, above, own, figure_words())
    said = t("linked.worst_across", columns=f"{above} × {own}", worst=percent(v.worst or 0.0))
    finding(said, both, key="linked_pair")


def _children(views: LinkViews, v: LinkVerdict) -> None:
    name = t("linked.metric_children", **v.ends)
    said = t("overview.column", a=name, off=percent(v.value), fresh=percent(v.fresh))
    try:
        sizes = views.children(v.scope, name)
    except MetricError as error:  # no parent was made
        note(sentence(error), "warning")
        return
    drawn = build.column({t("word.synthetic"): sizes}, name, figure_words())
    finding(said[:1].upper() + said[1:], drawn, key="linked_children", tilted=False)


def _scores(space: Workspace, job: Job, found: list[LinkVerdict]) -> None:
    """For each link what is kept, and the distances that this rests on."""
    for one in relations.keys(space, job):
        mine = [v for v in found if v.scope == f"{one.parent} > {one.child}"]
        ends = {"parent": one.parent, "child": one.child}
        section(t("linked.link", **ends))
        for v in (v for v in mine if v.metric != CHILDREN):
            known = "nothing" if v.kept is None else "kept"
            note(t(f"linked.{known}_{METRICS[v.metric]}", kept=percent(v.kept or 0, 0), **ends))
        heads = [t(f"linked.{what}", **ends) for what in ("metric", "column_synthetic", "column_fresh", "column_apart")]
        table(heads, [_row(v) for v in mine], alt=t("linked.scores_alt"))
        note(relations.key_words(one))
    note(t("linked.scores_note"))


def _row(v: LinkVerdict) -> list[str]:
    """A score of a link, what a fresh sample scores, and what children of any parent do."""
    apart = percent(v.unattached) if v.metric != CHILDREN else "–"
    said = t(f"linked.metric_{METRICS[v.metric]}", **v.ends)
    if v.worst is not None:
        said += "\n" + t("linked.worst", columns=" × ".join(v.columns), worst=percent(v.worst))
    return [said, percent(v.value), percent(v.fresh), apart]
