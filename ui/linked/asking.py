"""The form of one question across links, for the kinds that are asked most often; others come as a file."""

from typing import Any

import streamlit as st

from dpsyn_core.questions import MOST_GROUPS, LinkedQuestion, Questions, numeric
from dpsyn_core.schema import Link, LinkedSchema
from ui.questions import kept
from ui.questions.words import asks
from ui.shared.faults import refusals
from ui.shared.state import Workspace
from ui.shared.text import field, literal, number, t
from ui.shared.theme import note

COUNT, SHARE, MEAN, OWN, CHANGE = "count", "share", "mean", "own", "change"
FIGURES: dict[str, dict[str, Any]] = {
    "mean": {"kind": "mean"},
    "quantile": {"kind": "quantile", "at": [0.25, 0.5, 0.75]},
    "gini": {"kind": "gini"},
}
NUMBER_OF = "number of {child}"  # the column that a question of this form declares
GENERATION = "linked_ask_generation"  # changes when a question was kept, so that the form is empty again


def number_of(schema: LinkedSchema, link: Link) -> LinkedQuestion:
    """The question for the average number of children that a parent has."""
    counted = _free(NUMBER_OF.format(child=link.child), schema, link.parent)
    usual = _usual(t("linked.ask_count", child=link.child, root=link.parent), "", [])
    name = f"{t('linked.ask_figure_mean')}, {usual}"[:200]
    counts = {counted: {"of": link.child}}
    ask = {"kind": "mean", "of": counted, "name": name}
    return Questions.of([{"about": link.parent, "counts": counts, "ask": ask}]).across[0]


def _free(name: str, schema: LinkedSchema, table: str) -> str:
    """The name of a column that a question declares, which no column of its table has."""
    while name in {a.name for a in schema[table].coded}:
        name += "_"
    return name


def form(space: Workspace, schema: LinkedSchema) -> None:
    """The fields, and the button that declares what they say."""
    key = f"linked_ask_{space.serial[:8]}_{st.session_state.get(GENERATION, 0)}"
    names = [link.child for link in schema.links]
    child = str(st.selectbox(t("linked.ask_about"), names, key=f"{key}_child", format_func=literal))
    link = next(one for one in schema.links if one.child == child)
    kinds = [COUNT, SHARE] + ([MEAN] if _numbers(schema, link.child) else [])
    kinds += [OWN] if _numbers(schema, link.parent) else []
    kinds += [CHANGE] if link.order is not None and _numbers(schema, link.child) else []
    called = {k: t(f"linked.ask_{k}", child=child, root=link.parent) for k in kinds}
    kind = str(st.selectbox(t("questions.kind"), kinds, key=f"{key}_kind_{child}", format_func=called.__getitem__))
    made = (_of_children if kind in (COUNT, SHARE) else _of_numbers)(schema, link, kind, f"{key}_{child}_{kind}")
    usual = made.pop("usual")
    if kind != SHARE:
        figure = _figure(kind, f"{key}_{child}_{kind}")
        usual = f"{t(f'linked.ask_figure_{figure}')}, {usual}"[:200]
        made["ask"] |= FIGURES[figure]
    made["at_most"] = _few(schema, str(made["about"]), f"{key}_{child}_{kind}")
    name = st.text_input(key=f"{key}_name", placeholder=usual, max_chars=200, **field("questions.name"))
    made["ask"]["name"] = (name or "").strip() or usual
    if not st.button(t("questions.keep"), key="linked_ask_keep"):
        return
    with refusals():
        kept.put(space, made)
        st.session_state[GENERATION] = st.session_state.get(GENERATION, 0) + 1
        st.rerun()


def words(schema: LinkedSchema, question: LinkedQuestion) -> str:
    """Whose records a question is about and what it asks, in a line; which children it counts, where not all."""
    ask, made = question.ask, {}
    for name, count in question.counts.items():
        if name.rstrip("_") == NUMBER_OF.format(child=count.of):  # a name that the form gave
            made[name] = t(f"linked.ask_{SHARE if count.any else COUNT}", child=count.of, root=question.about)
    of = getattr(ask, "of", None)
    if isinstance(of, str) and of in made:
        ask = ask.model_copy(update={"of": made[of]})
    parts = [f"{question.about}: {asks(ask)}"]
    parts += [f"{made.get(n, n)}: {c.of} ({c.where})." for n, c in question.counts.items() if c.where]
    said = " ".join(parts)
    return said if question.at_most is None else f"{said.removesuffix('.')}; {few(schema, question.at_most)}"


def few(schema: LinkedSchema, most: int) -> str:
    """That no root counts for more records than this."""
    return t("linked.asked_few", most=number(most), root=schema.root.name)


def _few(schema: LinkedSchema, about: str, key: str) -> int | None:
    """How many records of one root count fully, where one may have several; None: all."""
    link = next((one for one in schema.links if one.child == about), None)
    if link is None or schema.most_of_root(link) == 1:
        return None
    most = schema.most_of_root(link)
    words = {"about": literal(about), "root": literal(schema.root.name), "most": number(most)}
    more = field("linked.ask_few", **words) | {"placeholder": t("linked.ask_few_all", most=number(most))}
    got = st.number_input(min_value=1, max_value=most, value=None, key=f"{key}_few", **more)
    return None if got is None else int(got)


def _figure(kind: str, key: str) -> str:
    """What is asked of a number: its mean, its median and quartiles, or how unequal it is."""
    figures = [f for f in FIGURES if kind != CHANGE or f != "gini"]  # a change may be negative
    called = {f: t(f"linked.ask_figure_{f}") for f in figures}
    return str(st.selectbox(t("linked.ask_figure"), figures, key=f"{key}_figure", format_func=called.__getitem__))


def _numbers(schema: LinkedSchema, table: str) -> list[str]:
    return [a.name for a in schema[table].coded if numeric(a)]


def _groups(label: str, options: list[str], key: str) -> list[str]:
    """Columns to break a figure down by; those of numbers have too many cells for that without bins."""
    more: dict[str, Any] = {"max_selections": MOST_GROUPS, "placeholder": t("questions.choose")}
    return list(st.multiselect(label, options, key=f"{key}_by", format_func=literal, **more))


def _of_children(schema: LinkedSchema, link: Link, kind: str, key: str) -> dict[str, Any]:
    """How many children meet conditions, or how many parents have one."""
    more = field("linked.ask_where", child=literal(link.child)) | {"placeholder": t("linked.ask_all")}
    where = st.text_input(key=f"{key}_where", max_chars=1000, **more)
    parent = schema[link.parent].coded
    by = _groups(t("linked.ask_by"), [a.name for a in parent if not numeric(a)], key)
    counted = _free(NUMBER_OF.format(child=link.child), schema, link.parent)
    met = (where or "").strip()
    count = {"of": link.child, "any": kind == SHARE} | ({"where": met} if met else {})
    return {
        "about": link.parent,
        "counts": {counted: count},
        "ask": {"kind": "mean", "of": counted, "by": by},
        "usual": _usual(t(f"linked.ask_{kind}", child=link.child, root=link.parent), met, by),
    }


def _of_numbers(schema: LinkedSchema, link: Link, kind: str, key: str) -> dict[str, Any]:
    """A number of the children or of the parents, or its change since the sibling before."""
    about = link.parent if kind == OWN else link.child
    of = str(st.selectbox(t("linked.ask_of"), _numbers(schema, about), key=f"{key}_of", format_func=literal))
    own = [a.name for a in schema[about].coded if not numeric(a)]
    above = [f"{link.parent}.{a.name}" for a in schema[link.parent].coded if about == link.child and not numeric(a)]
    by = _groups(t("linked.ask_by"), [*own, *above], key)
    usual = _usual(t(f"linked.ask_{kind}", child=link.child, root=link.parent), of, by)
    made: dict[str, Any] = {"about": about, "ask": {"kind": "mean", "of": of, "by": by}, "usual": usual}
    if kind == CHANGE:
        note(t("linked.ask_change_note", order=link.order))
        changed = _free(f"change of {of}", schema, link.child)
        made["changes"], made["ask"]["of"] = {changed: of}, changed
    return made


def _usual(kind: str, what: str, by: list[str]) -> str:
    """A name for a question that was given none."""
    named = f"{kind}: {what}" if what else kind
    return f"{named} ({', '.join(by)})"[:200] if by else named[:200]
