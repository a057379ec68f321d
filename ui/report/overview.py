"""Overview: what the table is good for in one sentence, three figures that show it, and what helps."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Comparison, GroupGaps, Verdict, group_gaps, uses, verdict
from dpsyn_core.report import Figure, alarm, build, changes, figures, first_words, parts, uses_words
from ui.export import files
from ui.questions import kept as questions
from ui.report import comparing
from ui.report.look import Look, Side
from ui.schema import tried
from ui.shared.faults import refusals
from ui.shared.going import go_to
from ui.shared.results import kept
from ui.shared.text import counted, figure_words, literal, local, percent, sentence, t
from ui.shared.theme import lead, note, show
from ui.synthesize import refits, runs

FEW = 4  # labels of an axis of many values
LOW = 270  # pixels of the three figures, so that all of it stands on one screen
WORTH = 0.02  # weight of a finding that a figure shows instead of what differs most
HOLDS = 0.01  # share of the records that break a proposed rule, at most in the real table and at least here
TITLE = 110  # characters of a finding that has room above its figure
OFFERED = "overview_offered"  # in the session of the visitor: the question that waits for a word


def panel(view: Look) -> None:
    """The sentence, the worst column, the pair that matters, gaps between groups, and the next press."""
    side, words = view.first, figure_words()
    try:
        key = ("verdict", side.job.id, repr(side.comparison.roles))
        found = kept(view.space, key, lambda: verdict(side.comparison))
        said = uses_words(uses(side.comparison), words)
    except MetricError as error:
        note(sentence(error), "warning")
        return
    near = alarm(found, words)
    if near:
        note(f"{words['alarm']}: {near}", "alarm")
    if found.shows_rules:
        tried.see(tried.names(*view.space.parts.values()))
    lead(said)
    for f in (f for f in found.findings if f.key == "rows"):  # of other rows than these no figure below tells
        note(first_words(f, words), "warning")
    presses, word = st.container(horizontal=True, gap="small"), st.container()
    a, b, c = st.columns([3, 4, 3], gap="medium")
    with a:
        _column(view, side, found)
    gaps = group_gaps(side.comparison)
    pair = _pair(view, side, found, b, gaps)
    with c:
        _gaps(gaps, found)
    with presses:
        if not view.table:
            _declare(view, pair, gaps, word)
            _refit(view, side, found)
    listed, count = changes(found, words), len(found.findings)
    with st.expander(counted("overview.all", count) if count else t("overview.none"), key="overview_findings"):
        head, _ = parts(found, words, epsilon=side.job.spec.epsilon)
        st.write(literal(head))
        if listed:
            st.markdown("\n".join(f"- {literal(one)}" for one in listed))


def _named(found: Verdict, c: Comparison, least: int, but: frozenset[str] = frozenset()) -> Iterator[tuple[str, ...]]:
    """Columns of the findings about so many or more of them, each with its sentence if it is short, gravest first.

    but: columns that another figure shows together.
    """
    for f in (f for f in found.findings if f.weight >= WORTH):
        names = tuple(n for n in dict.fromkeys(f.columns) if n in c.domain.names)
        if but == frozenset(names):
            continue
        if (len(names) >= least) if least > 1 else len(names) == 1:
            said = first_words(f, figure_words(), examples=False)
            yield *names[:least], said if len(said) <= TITLE else ""


def _column(view: Look, side: Side, found: Verdict) -> None:
    got = view.score(side, "tvd-1way")
    if isinstance(got, MetricError):
        note(sentence(got))
        return
    differing = build.differences([got])
    name, said = next(_named(found, side.comparison, 1), (next(iter(differing)), ""))
    marginals = got.details["marginals"]
    at = [m[0] for m in marginals["attributes"]].index(name)
    fresh = percent(float(marginals["floor"][at]))
    said = said or t("overview.column", a=name, off=percent(differing[name]), fresh=fresh)
    finding(said, build.column({t("word.synthetic"): side.comparison}, name, figure_words()), key="overview_column")


def _pair(
    view: Look, side: Side, found: Verdict, place: DeltaGenerator, gaps: GroupGaps | None
) -> tuple[str, str] | None:
    """Both tables of the pair that the gravest finding names, else of the one that differs most beyond chance.

    A finding about what `gaps` shows is left to that figure.
    """
    pairs = comparing.pairs(view.space, side.job, side.comparison)
    if len(pairs.names) < 2:
        return None
    worst = pairs.worst(beyond_chance=True)[:2]
    a, b, said = next(_named(found, side.comparison, 2, _between(gaps)), (*worst, ""))
    at = pairs.names.index(a), pairs.names.index(b)
    with place:
        off, fresh = percent(float(pairs.tvd[at])), percent(float(pairs.floors[at]))
        said = said or t("overview.pair", a=a, b=b, off=off, fresh=fresh)
        draw = partial(build.pair, side.comparison, a, b, figure_words())
        both, _ = kept(view.space, ("pair", side.job.id, a, b), draw)
        finding(said, both, key="overview_pair")
    return a, b


def _between(gaps: GroupGaps | None) -> frozenset[str]:
    """The number and the groups whose means are shown; none where a third column splits them."""
    return frozenset() if gaps is None or gaps.between else frozenset((gaps.column, gaps.by))


def _gaps(found: GroupGaps | None, whole: Verdict) -> None:
    """Real and synthetic gaps as dumbbells, with the word for what became of them, or the finding about them."""
    if found is None:
        note(t("overview.no_gaps"))
        return
    what = t("overview.gap_of", column=found.column, between=found.between) if found.between else found.column
    said = t(f"overview.gaps_{found.grade}", what=what, by=found.by)
    own = next((f for f in whole.findings if f.key == "group" and set(f.columns) == _between(found)), None)
    if own is not None and found.grade == "moved":
        said = first_words(own, figure_words(), examples=False)
    elif not found.between and found.grade != "moved":
        said += t("overview.gaps_share", kept=percent(max(0.0, found.kept), 0))
    elif found.fresh is not None:
        values = {"kept": local(found.kept, ".2f").replace("-", "\N{MINUS SIGN}"), "fresh": local(found.fresh, ".2f")}
        said += t("overview.gaps_ranks", **values)
    series: dict[str, Any] = {t("word.real"): list(found.real), t("word.synthetic"): list(found.synthetic)}
    form = ",.0f" if max(map(abs, found.real)) >= 10 else ",.2f"
    figure = figures.dots(found.groups, series, title=what, tickformat=form, caption=said, words=figure_words())
    finding(said, figure, key="overview_gaps", tilted=False)


def finding(said: str, figure: Figure, *, key: str, tilted: bool = True) -> None:
    """A figure of one screen's height below the sentence that states what it shows."""
    layout = figure.layout | {"height": LOW}
    for name in ("xaxis", "xaxis2"):
        if name in layout:
            layout[name] = layout[name] | {"tickangle": -40 if tilted else 0, "tickfont": {"size": 10}}
            if "nticks" in layout[name]:  # of more values than have room, and here is less of it
                layout[name]["nticks"] = FEW
    st.html(f"<p class='dp-finding'>{escape(said)}</p>")
    show(replace(figure, layout=layout, caption=said), alt=f"{figure.alt} {said}", key=key, with_files=False)


def _declare(view: Look, pair: tuple[str, str] | None, gaps: GroupGaps | None, word: DeltaGenerator) -> None:
    """A press declares what matters as a question and leads to the next run.

    Questions are public and stand in the manifest, and which one is offered here the real table decides. So of a
    private table a person says in `word`, with a second press, that they would have asked it without the table.
    """
    if gaps is not None and gaps.grade != "kept":
        by = [n for n in (gaps.by, gaps.between) if n]
        document: dict[str, Any] = {"kind": "mean", "of": gaps.column, "by": by}
        document["name"] = f"{gaps.column}: {', '.join(by)}"
    elif pair is not None:
        document = {"name": " × ".join(pair), "kind": "table", "of": list(pair)}
    else:
        return
    about = t("overview.declare_help", what=document["name"])
    pressed = st.button(t("overview.declare"), key="overview_declare", type="primary", help=literal(about))
    if not view.space.sample:
        if pressed:
            st.session_state[OFFERED] = document
        if st.session_state.get(OFFERED) != document:
            return
        with word:
            note(about, "alarm")
            pressed = st.button(t("overview.declare_known"), key="overview_declare_known")
    if not pressed:
        return
    st.session_state.pop(OFFERED, None)
    with refusals():
        if document["name"] not in {one.name for one in questions.lines(view.space)}:
            questions.put(view.space, document)
        go_to("synthesize")


def _refit(view: Look, side: Side, found: Verdict) -> None:
    """One press adds rules that real records keep and makes the table again from the release, at no cost.

    They are those that the headers propose, and orders and computed numbers that the findings name.
    """
    if view.space.schema is None or not files.reusable(side.job):
        return
    from dpsyn_core.runs import declarable

    proposed = [rule for rule, b in side.comparison.intake.proposed if b.synthetic > HOLDS >= (b.real or 0.0)]
    named = {frozenset(rule.columns) for rule in proposed}
    broken = [f for f in found.findings if "declare" in f.what and f.real == 0 and (f.synthetic or 0.0) > HOLDS]
    seen = [f.what["declare"] for f in broken if frozenset(f.columns) not in named]
    added = [rule.model_dump(mode="json") for rule in (*proposed, *declarable(view.space.schema, seen))]
    press = partial(st.button, key="overview_rules", help=t("overview.rules_help"))
    if not added or not press(counted("overview.rules", len(added))):
        return
    source = "public" if view.space.sample else "data"  # that real records keep them chose them
    rules = tuple(rule | {"source": source} for rule in added)
    content = files.release(view.space, side.job)
    with refusals():
        from dpsyn_core.runs import manifest_of

        paid = manifest_of(content, "release.dpsyn")
        job = refits.start(view.space, content, paid, rules=rules)
        st.session_state[runs.STARTED] = job.id
        go_to("synthesize")
