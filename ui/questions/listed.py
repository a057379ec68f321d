"""The declared questions with their expected errors, and those that the schema suggests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from dpsyn_core.questions import LinkedQuestion, Question
from ui.linked import asking
from ui.questions import expected, form, kept, words
from ui.shared.state import Workspace
from ui.shared.text import amount, escaped, language, literal, number, percent, sentence, t
from ui.shared.theme import note, private_tag, table

if TYPE_CHECKING:
    from dpsyn_core.runs import Forecast, Forecasts
    from dpsyn_core.schema import Schema

OF_A_TABLE = 3  # suggestions of one of linked tables, besides those across its link
# `python -m benchmarks.questions --parts sample`, three seeds: pay gap by city of the sample, by system rls at delta
# 1e-9; (epsilon, what it was told, rank agreement of gaps, mean error of a gap, mean difference of all pairs)
MEASURED = (
    (1, "nothing", 0.56, 87, 0.025),
    (1, "gap", 0.89, 66, 0.025),
    (3, "nothing", 0.21, 89, 0.013),
    (3, "gap", 0.90, 28, 0.013),
)


def declared(space: Workspace, found: Forecasts | None) -> None:
    """One entry a question: what it asks, how far off it will be, and what to do with it."""
    by_name = {f.question.name: f for f in found.each} if found is not None else {}
    noise = expected.noise(space)
    if any(f.scale == "spread" and expected.spread(space, f.question) for f in by_name.values()):
        private_tag()
    for i, line in enumerate(kept.lines(space)):
        parts = _parts(space, line, by_name.get(line.name), found)
        if line.name in noise:
            parts.append(("span", "", t("linked.ask_noise", noise=number(float(f"{noise[line.name]:.3g}")))))
        body = "".join(f"<{tag} class='{kind}'>{escaped(text)}</{tag}>" for tag, kind, text in parts)
        st.html(f"<div class='dp-question'>{body}</div>")
        if line.problem:
            note(t("questions.unfit", why=sentence(ValueError(line.problem))), "alarm")
        with st.container(horizontal=True, gap="small"):
            called = literal(line.name)
            if space.linked is None and st.button(t("questions.edit"), key=f"question_edit_{i}", help=called):
                form.begin(line.document)
                st.rerun()
            if st.button(t("questions.remove"), key=f"question_remove_{i}", help=called):
                kept.remove(space, line.name)
                st.rerun()


def _parts(
    space: Workspace, line: kept.Line, foretold: Forecast | None, found: Forecasts | None
) -> list[tuple[str, str, str]]:
    """Name, sentence, and the error with and without declaring it: tag, class and text of each."""
    parts = [("b", "", line.name)]
    if line.question is not None:
        parts.append(("span", "", _asks(space, line.question) + _importance(line.question)))
    if foretold is not None and found is not None:
        spread = expected.spread(space, foretold.question) if foretold.scale == "spread" else None
        old, new = (words.error(foretold, v, spread) for v in (foretold.before, foretold.after))
        if not found.takes or found.share == 0:
            parts.append(("span", "", t("questions.now", error=old)))
        elif foretold.after is None:
            parts.append(("span", "", t("questions.on_the_way", error=old)))
        elif foretold.before is not None and foretold.after >= foretold.before:
            parts.append(("span", "", t("questions.no_gain", before=old, after=new)))
        else:
            parts.append(("span", "dp-was", t("questions.was", error=old)))
            parts.append(("span", "dp-will", t("questions.will", error=new)))
    return parts


def _asks(space: Workspace, question: Question | LinkedQuestion, named: Schema | None = None) -> str:
    """What a question asks, in a sentence. named: the schema of a suggestion, by which a mean may be a share."""
    if not isinstance(question, LinkedQuestion):
        return words.asks(question, named)
    schema = None if space.linked is None else space.linked.declared()
    return "" if schema is None else asking.words(schema, question)


def buys() -> None:
    """What declaring one question bought on the bundled sample: measured, medians of three runs each."""
    note(t("questions.buys"))
    head = [t(f"questions.buys_{k}") for k in ("epsilon", "told", "ranks", "off", "pairs")]
    rows = [
        [number(epsilon), t(f"questions.buys_{told}"), number(ranks), number(off), percent(pairs)]
        for epsilon, told, ranks, off, pairs in MEASURED
    ]
    table(head, rows, alt=t("questions.buys"))


def _importance(question: Question | LinkedQuestion) -> str:
    weight = float(question.ask.weight if isinstance(question, LinkedQuestion) else question.weight)
    return "" if weight == 1 else " " + t("questions.counts", times=amount(weight))


def suggested(space: Workspace) -> None:
    """Questions from names in the schema, one press each."""
    have = {n.name for n in kept.lines(space)}
    offered = [question for question in _offered(space) if question.name not in have]
    if not offered:
        note(t("questions.none_suggested"))
        return
    note(t("questions.suggested_note"))
    with st.container(horizontal=True, gap="small"):
        for i, question in enumerate(offered):
            called, about = literal(question.name), literal(_asks(space, question, space.schema))
            if st.button(t("questions.add", name=called), key=f"question_add_{i}", help=about):
                kept.add(space, [question])
                st.rerun()


def _offered(space: Workspace) -> Sequence[Question | LinkedQuestion]:
    """The questions of the names of one table; of linked ones those across each link, then those of each table."""
    from dpsyn_core.questions import templates
    from dpsyn_core.runs import of_table

    if space.linked is None:
        return [] if space.schema is None else [_named(m.question) for m in templates(space.schema)]
    schema = space.linked.declared()
    if schema is None:
        return []
    out = [asking.number_of(schema, link) for link in schema.links]
    for one in schema.tables:
        found = [] if one.columns is None else [_named(m.question) for m in templates(one.columns)]
        out += [q for q in (of_table(schema, one.name, m) for m in found[:OF_A_TABLE]) if q is not None]
    return out


def _named(question: Question) -> Question:
    """A suggestion by a name in the visitor's language, as one that is typed into the form gets."""
    if language() == "en":
        return question
    return question.model_copy(update={"name": words.name_of(question.model_dump(mode="json")) or question.name})
