"""The declared questions with their expected errors, and those that the schema suggests."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from ui.questions import form, kept, words
from ui.shared.state import Workspace
from ui.shared.text import amount, language, literal, number, percent, sentence, t
from ui.shared.theme import note, table

if TYPE_CHECKING:
    from dpsyn_core.questions import Template
    from dpsyn_core.runs import Forecast, Forecasts

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
    for i, line in enumerate(kept.lines(space)):
        st.html(f"<div class='dp-question'>{_body(line, by_name.get(line.name), found)}</div>")
        if line.problem:
            note(t("questions.unfit", why=sentence(ValueError(line.problem))), "alarm")
        with st.container(horizontal=True, gap="small"):
            if st.button(t("questions.edit"), key=f"question_edit_{i}", help=literal(line.name)):
                form.begin(line.document)
                st.rerun()
            if st.button(t("questions.remove"), key=f"question_remove_{i}", help=literal(line.name)):
                kept.remove(space, line.name)
                st.rerun()


def _body(line: kept.Line, expected: Forecast | None, found: Forecasts | None) -> str:
    """Name, sentence, and the error with and without declaring it."""
    parts = [("b", "", line.name)]
    if line.question is not None:
        parts.append(("span", "", words.asks(line.question) + _importance(line)))
    if expected is not None and found is not None:
        old, new = (words.error(expected, v) for v in (expected.before, expected.after))
        if not found.takes or found.share == 0:
            parts.append(("span", "", t("questions.now", error=old)))
        elif expected.after is None:
            parts.append(("span", "", t("questions.on_the_way", error=old)))
        elif expected.before is not None and expected.after >= expected.before:
            parts.append(("span", "", t("questions.no_gain", before=old, after=new)))
        else:
            parts += [("span", "dp-was", t("questions.was", error=old)),
                      ("span", "dp-will", t("questions.will", error=new))]  # fmt: skip
    return "".join(f"<{tag} class='{kind}'>{html.escape(text)}</{tag}>" for tag, kind, text in parts)


def buys() -> None:
    """What declaring one question bought on the bundled sample: measured, medians of three runs each."""
    note(t("questions.buys"))
    head = [t(f"questions.buys_{k}") for k in ("epsilon", "told", "ranks", "off", "pairs")]
    rows = [
        [number(epsilon), t(f"questions.buys_{told}"), number(ranks), number(off), percent(pairs)]
        for epsilon, told, ranks, off, pairs in MEASURED
    ]
    table(head, rows, alt=t("questions.buys"))


def _importance(line: kept.Line) -> str:
    weight = 1.0 if line.question is None else float(line.question.weight)
    return "" if weight == 1 else " " + t("questions.counts", times=amount(weight))


def suggested(space: Workspace) -> None:
    """Questions from names in the schema, one press each."""
    from dpsyn_core.questions import templates

    if space.schema is None:
        return
    have = {n.name for n in kept.lines(space)}
    offered = [m for m in map(_named, templates(space.schema)) if m.question.name not in have]
    if not offered:
        note(t("questions.none_suggested"))
        return
    note(t("questions.suggested_note"))
    for i, template in enumerate(offered):
        _offer(space, template, i)


def _named(template: Template) -> Template:
    """A suggestion by a name in the visitor's language, as one that is typed into the form gets."""
    if language() == "en":
        return template
    name = words.name_of(template.question.model_dump(mode="json")) or template.question.name
    return replace(template, question=template.question.model_copy(update={"name": name}))


def _offer(space: Workspace, template: Template, i: int) -> None:
    if st.button(t("questions.add", name=literal(template.question.name)), key=f"question_add_{i}"):
        kept.add(space, [template.question])
        st.rerun()
    note(words.asks(template.question, space.schema))
