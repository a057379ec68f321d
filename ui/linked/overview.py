"""Overview of linked tables: how much of what ties them is kept, three figures that show it, and what they rest on."""

import streamlit as st

from dpsyn_core.errors import MetricError
from dpsyn_core.report import build
from dpsyn_core.runs import LinkVerdict, LinkViews
from ui.linked import relations
from ui.report import comparing
from ui.report.look import look
from ui.report.overview import finding
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import figure_words, percent, t
from ui.shared.theme import lead, note, section, table

MOST = 3  # links that the sentence names, those of which least is kept
ACROSS, CHILDREN = "parent x child", "children"
METRICS = {CHILDREN: "children", ACROSS: "across", "siblings": "siblings"}  # in keys of texts


def panel(space: Workspace, job: Job) -> None:
    """The sentence, the worst column, what ties two tables and is furthest off, numbers of children, and all scores."""
    found = relations.verdicts(space, job) or []
    for one in (one for one in relations.keys(space, job) if not one.hold):
        note(relations.key_words(one), "alarm")
    across = [v for v in found if v.metric == ACROSS]
    tied = [v for v in across if v.kept is not None]
    lead(_said(tied))
    left, middle, right = st.columns([3, 4, 3], gap="medium")
    with left:
        _column(space, job)
    if across:
        with middle:
            _pair(space, job, max(tied or across, key=lambda v: v.worst or 0.0))
    with right:
        _children(space, job, max((v for v in found if v.metric == CHILDREN), key=lambda v: v.value - v.fresh))
    with st.expander(t("linked.all"), key="links_all"):
        _scores(space, job, found)


def _said(tied: list[LinkVerdict]) -> str:
    """How much of the relations is kept between which tables."""
    if not tied:
        return t("linked.nothing_tied")
    of = [t("linked.kept_between", kept=percent(_kept(v), 0), **_ends(v.scope)) for v in sorted(tied, key=_kept)[:MOST]]
    return t("linked.kept_lead", list=", ".join(of))


def _kept(v: LinkVerdict) -> float:
    return v.kept or 0.0


def _ends(scope: str) -> dict[str, str]:
    return dict(zip(("parent", "child"), scope.split(" > "), strict=True))


def _views(space: Workspace, job: Job) -> LinkViews:
    real = comparing.real_tables(space, job) or {}
    make = lambda: LinkViews.of(results.tree(space, job), comparing.separate(space, job), real)  # noqa: E731
    return results.kept(space, ("link views", job.id), make)


def _column(space: Workspace, job: Job) -> None:
    """Of all columns of all tables the one that is furthest beyond a fresh sample."""
    worst = None
    for name, _ in results.named_schemas(space, job):
        view = look(space, [job], name)
        got = None if view is None else view.score(view.first, "tvd-1way")
        if view is None or got is None or isinstance(got, MetricError):
            continue
        marginals = got.details["marginals"]
        for (column,), off, fresh in zip(*(marginals[k] for k in ("attributes", "tvd", "floor")), strict=True):
            if worst is None or off - fresh > worst[2] - worst[3]:
                worst = view, column, off, fresh
    if worst is None:
        return
    view, column, off, fresh = worst
    said = t("overview.column", a=f"{view.table}.{column}", off=percent(float(off)), fresh=percent(float(fresh)))
    drawn = build.column({t("word.synthetic"): view.first.comparison}, column, figure_words())
    finding(said, drawn, key="linked_column")


def _pair(space: Workspace, job: Job, v: LinkVerdict) -> None:
    c = _views(space, job).pair(v.scope, v.columns)
    above, own = c.domain.names
    both, _ = build.pair(c, above, own, figure_words())
    said = t("linked.worst_across", columns=f"{above} × {own}", worst=percent(v.worst or 0.0))
    finding(said, both, key="linked_pair")


def _children(space: Workspace, job: Job, v: LinkVerdict) -> None:
    ends = _ends(v.scope)
    name = t("linked.ask_count", child=ends["child"], root=ends["parent"])
    c = _views(space, job).children(v.scope, name)
    said = t("overview.column", a=name, off=percent(v.value), fresh=percent(v.fresh))
    drawn = build.column({t("word.synthetic"): c}, name, figure_words())
    finding(said[:1].upper() + said[1:], drawn, key="linked_children", tilted=False)


def _scores(space: Workspace, job: Job, found: list[LinkVerdict]) -> None:
    """For each link what is kept, and the distances that this rests on."""
    for one in relations.keys(space, job):
        mine = [v for v in found if v.scope == f"{one.parent} > {one.child}"]
        ends = {"parent": one.parent, "child": one.child}
        section(t("linked.link", **ends))
        for v in (v for v in mine if v.metric != CHILDREN):
            known = "nothing" if v.kept is None else "kept"
            note(t(f"linked.{known}_{METRICS[v.metric]}", kept=percent(_kept(v), 0), **ends))
        heads = [t(f"linked.{what}", **ends) for what in ("metric", "column_synthetic", "column_fresh", "column_apart")]
        table(heads, [_row(v, ends) for v in mine], alt=t("linked.scores_alt"))
        note(relations.key_words(one))
    note(t("linked.scores_note"))


def _row(v: LinkVerdict, ends: dict[str, str]) -> list[str]:
    """A score of a link, what a fresh sample scores, and what children of any parent do."""
    apart = percent(v.unattached) if v.metric != CHILDREN else "–"
    said = t(f"linked.metric_{METRICS[v.metric]}", **ends)
    if v.worst is not None:
        said += "\n" + t("linked.worst", columns=" × ".join(v.columns), worst=percent(v.worst))
    return [said, percent(v.value), percent(v.fresh), apart]
