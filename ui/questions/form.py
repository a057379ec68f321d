"""One question as a form in plain words: which columns, which values; no document has to be written."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.questions import KINDS, MOST_TABLE, numeric, two_sides
from dpsyn_core.schema import Schema
from dpsyn_core.tables import clauses
from ui.linked import asking
from ui.questions import kept
from ui.questions.words import name_of
from ui.shared.choices import one_of
from ui.shared.faults import refusals
from ui.shared.state import Workspace
from ui.shared.text import amount, field, literal, plain, t
from ui.shared.theme import section

OPEN, EDITED, GENERATION = "question_open", "question_edited", "question_generation"
WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
BINS = ("fine", "width", "count", "edges")
PERIODS = ("day", "month", "quarter", "year")
Document = dict[str, Any]


def begin(document: Document | None = None) -> None:
    """Opens the form, empty or with a question to be changed."""
    st.session_state[OPEN] = True
    st.session_state[EDITED] = document
    st.session_state[GENERATION] = st.session_state.get(GENERATION, 0) + 1


def panel(space: Workspace) -> None:
    """The form where it is open; of linked tables it is small, and always is."""
    if space.linked is not None:
        linked_schema = space.linked.declared()
        if linked_schema is not None:
            section(t("questions.new"))
            asking.form(space, linked_schema)
        return
    schema = space.schema
    if schema is None or not st.session_state.get(OPEN):
        return
    before: Document = st.session_state.get(EDITED) or {}
    section(t("questions.change", name=before["name"]) if before else t("questions.new"))
    made = _fields(schema, before, f"question_{st.session_state.get(GENERATION, 0)}")
    with st.container(horizontal=True, gap="small"):
        wanted = st.button(t("questions.keep"), key="question_keep")
        if st.button(t("questions.leave"), key="question_leave"):
            st.session_state[OPEN] = False
            st.rerun()
    if not wanted:
        return
    with refusals():
        kept.put(space, made, instead_of=before.get("name"))
        st.session_state[OPEN] = False
        st.rerun()


def _fields(schema: Schema, before: Document, key: str) -> Document:
    first, second = st.columns([3, 2])
    kinds, at = {k: t(f"questions.kind_{k}") for k in KINDS}, KINDS.index(before.get("kind", "mean"))
    kind = first.selectbox(t("questions.kind"), KINDS, at, key=f"{key}_kind", format_func=kinds.__getitem__)
    old, held = before if before.get("kind") == kind else {}, float(before.get("weight", 1))
    weights = {w: t("questions.times", times=amount(w)) for w in sorted({*WEIGHTS, held})}
    more = field("questions.weight") | {"options": list(weights), "format_func": weights.__getitem__}
    weight = second.select_slider(value=held, key=f"{key}_weight", **more)
    made: Document = {"kind": kind, **_FORMS[kind](schema, old, f"{key}_{kind}")}
    if weight != 1:
        made["weight"] = int(weight) if float(weight).is_integer() else weight
    usual = name_of(made)
    more = field("questions.name") | {"placeholder": usual, "max_chars": 200}
    name = st.text_input(value=before.get("name", ""), key=f"{key}_name", **more)
    return {"name": name.strip() or usual, **made}


def fields_of(schema: Schema, kind: str, key: str) -> Document:
    """The fields of one kind alone, empty, without a name and a weight: for questions that are not declared."""
    return {"kind": kind, **_FORMS[kind](schema, {}, f"{key}_{kind}")}


# ---- one function a kind: (schema, what was chosen before, key) -> fields of the document


def _table(schema: Schema, old: Document, key: str) -> Document:
    names = _several("columns", _names(schema), old.get("of", []), key, most=MOST_TABLE)
    return {"of": names, **_binned(schema, names, old, key)}


def _binned(schema: Schema, names: Sequence[str], old: Document, key: str) -> Document:
    """The bins of the columns that have an order, where any is chosen."""
    bins = {}
    for name in names:
        if numeric(schema[name]) or schema[name].in_order:
            held, dates = old.get("bins", {}).get(name), schema[name].dated
            given = _period(name, held, f"{key}_{name}") if dates else _bins(name, held, f"{key}_{name}")
            if given is not None:
                bins[name] = given
        elif name in old.get("bins", {}):
            bins[name] = old["bins"][name]  # groups of values, which have no field here
    return {"bins": bins} if bins else {}


def _period(name: str, old: Document | None, key: str) -> Document | None:
    """By which period the dates of one column are told apart."""
    options = ("fine", *PERIODS)
    start = (old or {}).get("every", "month" if old is None else "fine")
    every = _fineness(name, options, start, f"{key}_every", st)
    return None if every == "fine" else {"every": every}


def _fineness(name: str, options: tuple[str, ...], start: str, key: str, at: Any) -> str:
    words, said = t("questions.bins", name=literal(name)), lambda k: t(f"questions.bins_{k}")
    return str(at.selectbox(words, options, index=options.index(start), key=key, format_func=said))


def _bins(name: str, old: Document | None, key: str) -> Document | None:
    """How finely one ordered column is told apart."""
    start = next((k for k in BINS if old and k in old), "fine")
    first, second = st.columns(2)
    how = _fineness(name, BINS, start, f"{key}_how", first)
    if how == "fine":
        return None
    with second:
        if how == "edges":
            held = ", ".join(plain(e) for e in (old or {}).get("edges", []))
            return {"edges": _numbers(st.text_input(t("questions.edges"), held, key=f"{key}_edges"))}
        value = (old or {}).get(how, 10)
        width: Document = {"value": float(value), "min_value": 0.0, "format": "%g"}
        count: Document = {"value": int(value), "min_value": 1, "format": "%d"}
        got = st.number_input(t(f"questions.{how}"), key=f"{key}_{how}", **(width if how == "width" else count))
        return {how: int(got) if float(got).is_integer() else float(got)}


def _numbers(text: str) -> list[float | str]:
    """Numbers as they were typed; what is none stays text, so that the document's own sentence says so."""
    out: list[float | str] = []
    for word in filter(None, map(str.strip, text.replace(";", ",").split(","))):
        try:
            value = float(word)
        except ValueError:
            out.append(word)
        else:
            out.append(int(value) if value.is_integer() else value)
    return out


def _grouped(schema: Schema, old: Document, key: str, most: int = 2) -> Document:
    of = _one("number", _numeric(schema), old.get("of"), key)
    by = _several("by", [n for n in _groups(schema) if n != of], old.get("by", []), key, most=most)
    return {"of": of, **({"by": by} if by else {}), **_binned(schema, by, old, key)}


def _quantile(schema: Schema, old: Document, key: str) -> Document:
    made = _grouped(schema, old, key)
    held = ", ".join(plain(100 * float(q)) for q in old.get("at", [0.5]))
    given = _numbers(st.text_input(value=held, key=f"{key}_at", **field("questions.at")))
    at = [q if isinstance(q, str) else round(q / 100, 6) for q in given]
    return made | ({} if at == [0.5] else {"at": at})


def _gap(schema: Schema, old: Document, key: str) -> Document:
    """A column chosen in one place is not offered in the next."""
    of = _one("number", _numeric(schema), old.get("of"), key)
    held = next(iter(old.get("between", {}).items()), (None, ()))
    between = _one("between", [n for n in _groups(schema) if n != of], held[0], key, guess="split")
    made: Document = {"of": of}
    if between:
        labels = schema[between].labels()[: schema[between].size - schema[between].special]
        values = list(getattr(schema[between], "values", labels))
        start = two_sides(labels) if len(labels) > 1 else (0, 0)
        sides = [values[i] for i in start] if held[0] != between else list(held[1])
        at = [values.index(side) if side in values else 0 for side in sides]
        made["between"] = {
            between: [
                place.selectbox(t(f"questions.side_{i}"), values, at[i], key=f"{key}_{between}_{i}", format_func=str)
                for i, place in enumerate(st.columns(2))
            ]
        }
    by = _several("by", [n for n in _groups(schema) if n not in (of, between)], old.get("by", []), key, most=1)
    return made | ({"by": by} if by else {}) | _binned(schema, by, old, key)


def _range(schema: Schema, old: Document, key: str) -> Document:
    """Conditions by column: an interval of numbers or dates, or a list of values; or as they are written."""
    held: dict[str, Any] = {}
    try:
        read = clauses(old["where"]) if old else ()
        held = {c.attribute: c for c in read}
    except DPSynError:
        read = ()
    hard = len(held) < len(read) or any(c.negated or c.outside for c in read) or (bool(old) and not read)
    if st.toggle(t("questions.as_text"), hard, key=f"{key}_as_text"):
        where = st.text_area(value=old.get("where", ""), key=f"{key}_where", height=80, **field("questions.where"))
        return {"where": (where or "").strip()}
    names = _several("columns", _names(schema), list(held), key, most=8)
    parts = [_condition(schema[name], held.get(name), f"{key}_{name}") for name in names]
    return {"where": " and ".join(filter(None, parts))}


def _condition(attribute: Any, clause: Any, key: str) -> str:
    """The condition on one column as it is written; empty where no value of a list is chosen."""
    said = {word: t(f"questions.{word}", name=literal(attribute.name)) for word in ("from", "to", "values")}
    name = _quoted(attribute.name)
    if attribute.limits is not None:
        first, second = st.columns(2)
        ends = _ends(clause, attribute)
        low = first.number_input(said["from"], value=ends[0], key=f"{key}_low", format="%g")
        high = second.number_input(said["to"], value=ends[1], key=f"{key}_high", format="%g")
        return f"{name} in [{plain(low)}, {plain(high)}]"
    if attribute.dated and (clause is None or clause.interval):
        dates = clause.values if clause is not None else (attribute.min[:10], attribute.max[:10])
        typed = [
            place.text_input(said[word], date, key=f"{key}_{word}", help=t("questions.date_help")).strip()
            for place, word, date in zip(st.columns(2), ("from", "to"), dates, strict=True)
        ]
        return f"{name} in [{', '.join(typed)}]"
    labels = attribute.labels()
    start = [v for v in (clause.values if clause is not None and not clause.interval else ()) if v in labels]
    chosen = st.multiselect(said["values"], labels, start, key=f"{key}_values", placeholder=t("questions.choose"))
    return f"{name} in {{{', '.join(_quoted(v) for v in chosen)}}}" if chosen else ""


def _ends(clause: Any, attribute: Any) -> tuple[float, float]:
    try:
        low, high = (float(v) for v in clause.values)
    except (AttributeError, ValueError, TypeError):
        return float(attribute.min), float(attribute.max)
    return low, high


def _quoted(text: str) -> str:
    """A name or value as the language of conditions reads it."""
    return text if text.replace("_", "").isalnum() else '"' + text.replace('"', '""') + '"'


def _predict(schema: Schema, old: Document, key: str) -> Document:
    of = _one("target", _names(schema), old.get("of"), key)
    chosen = _several("from_columns", [n for n in _names(schema) if n != of], old.get("from") or [], key, most=200)
    return {"of": of, **({"from": chosen} if chosen else {})}


def _regression(schema: Schema, old: Document, key: str) -> Document:
    models, usual = {m: t(f"questions.model_{m}") for m in ("linear", "logistic")}, old.get("model", "linear")
    more = {"first": usual, "called": models.__getitem__, "labelled": True}
    model = one_of(t("questions.model"), tuple(models), key=f"{key}_model", **more)
    if st.toggle(t("questions.as_formula"), "formula" in old, key=f"{key}_as_formula"):
        more = field("questions.formula") | {"placeholder": "died ~ treated + age + log(crp) + treated*diabetes"}
        written = st.text_input(value=old.get("formula", ""), key=f"{key}_formula", **more)
        value = old.get("value") if model == "logistic" else None
        return {"formula": (written or "").strip(), "model": model} | ({} if value is None else {"value": value})
    outcomes = _numeric(schema) if model == "linear" else _groups(schema)
    of = _one("outcome", outcomes, old.get("of"), f"{key}_{model}")
    made: Document = {"of": of, "model": model} if model == "logistic" else {"of": of}
    if model == "logistic" and of:
        labels = schema[of].labels()[: schema[of].size - schema[of].special]
        at = labels.index(str(old["value"])) if str(old.get("value")) in labels else len(labels) - 1
        made["value"] = st.selectbox(t("questions.value"), labels, index=at, key=f"{key}_{of}_value")
    names = [n for n in _names(schema) if n != of]
    return made | {"on": _several("explained", names, old.get("on", []), key, most=20)}


_FORMS: dict[str, Callable[[Schema, Document, str], Document]] = {
    "table": _table, "mean": _grouped, "sum": _grouped, "quantile": _quantile, "gap": _gap, "range": _range,
    "gini": partial(_grouped, most=1), "predict": _predict, "regression": _regression,
}  # fmt: skip


# ---- columns to choose from


def _names(schema: Schema) -> list[str]:
    return [a.name for a in schema.coded]


def _numeric(schema: Schema) -> list[str]:
    return [a.name for a in schema.coded if numeric(a)]


def _groups(schema: Schema) -> list[str]:
    """Columns that groups are made of: those with few values first."""
    sizes = {a.name: a.size for a in schema.domain().attributes}
    few = sorted((a.name for a in schema.coded if not numeric(a)), key=sizes.__getitem__)
    return few + [a.name for a in schema.coded if numeric(a)]


def _one(words: str, names: Sequence[str], old: str | None, key: str, guess: str = "") -> str | None:
    from dpsyn_core.questions import INCOME, SPLIT, find

    usual = find(SPLIT if guess == "split" else INCOME, names)
    at = names.index(old) if old in names else names.index(usual) if usual in names else 0
    more: Document = {"index": at if names else None, "placeholder": t("questions.choose")}
    return st.selectbox(t(f"questions.{words}"), list(names), key=f"{key}_{words}", **more)


def _several(words: str, names: Sequence[str], old: Sequence[str], key: str, *, most: int) -> list[str]:
    more: Document = {"max_selections": most, "placeholder": t("questions.choose"), "key": f"{key}_{words}"}
    return list(st.multiselect(t(f"questions.{words}"), list(names), [n for n in old if n in names], **more))
