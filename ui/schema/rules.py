"""Rules that no synthetic record breaks: a tick each, also for what headers propose, and a form for another."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema import (
    COMPLETED,
    SECONDS,
    Part,
    Rule,
    Schema,
    breaking_record,
    holds_by_nature,
    named_close,
    propose_rules,
    rules_known,
    with_ranges,
)
from ui.schema import editor, tried
from ui.schema.rule_words import rule_words
from ui.shared.choices import one_of
from ui.shared.faults import refusals
from ui.shared.state import Workspace
from ui.shared.text import field, literal, local, moment, sentence, t
from ui.shared.theme import note, private_tag

KINDS = ("order", "difference", "sum", "ratio", "impossible", "blank", "follows", "part", "unique")
WhyNot = Callable[[Schema], str] | None  # why a schema with another rule cannot be, or an empty text
Fields = dict[str, Any] | None  # of a rule; None while one is open
FEWEST = {"order": 2, "difference": 3, "sum": 3, "ratio": 3, "follows": 2}  # columns that a rule is about


def panel(
    space: Workspace, *, kinds: Sequence[str] = KINDS, why_not: WhyNot = None, key: str = "rule", asked: bool = False
) -> None:
    """The rules of the schema and what headers propose, a tick each, and the form for another one; no record is read.

    kinds: that can be added. why_not: why a schema with another rule cannot be, or an empty text. key: of the fields.
    asked: the guide asks for them, so that the ticks stand open.
    """
    schema = space.schema
    if schema is None:
        return
    held, proposed = {str(rule) for rule in schema.rules}, propose_rules(schema)
    if why_not is not None:
        proposed = [r for r in proposed if not why_not(schema.model_copy(update={"rules": (*schema.rules, r)}))]
    shown = held | {str(rule) for rule in proposed}
    every = (*propose_rules(schema.model_copy(update={"rules": ()})), *schema.rules)  # in an order that a tick keeps
    rules = {str(rule): rule for rule in every if str(rule) in shown}
    key_of_heading = "rules.title_proposed" if proposed else "rules.title"
    heading = t(key_of_heading, count=len(schema.rules), proposed=len(proposed))
    if asked:
        _offered(space, schema, rules, why_not, key)
    with st.expander(t("rules.another") if asked else heading, key=f"{key}s_expander_{asked}"):
        if not asked:
            _offered(space, schema, rules, why_not, key)
        added = form(schema, key, kinds)
        if added is not None:
            _take(space, [*_documents(schema), *_now(space, added)], why_not)


def _offered(space: Workspace, schema: Schema, rules: Mapping[str, Rule], why_not: WhyNot, key: str) -> None:
    """The rules of the schema and those that headers propose, a press that confirms what a look chose, and the look."""
    note(t("rules.lead"))
    if tried.confirm(schema.rules, key=key):
        _take(space, _documents(rules_known(schema)), why_not)
    _boxes(space, schema, rules, why_not, key)
    _look(space, schema, rules, why_not, key)


def _look(space: Workspace, schema: Schema, rules: Mapping[str, Rule], why_not: WhyNot, key: str) -> None:
    """One press reads the table for rules that every record keeps, for its owner to tick; nothing in safe mode."""
    data = space.dataset
    if data is None or data.table is None or space.choices.safe:
        return
    seen: list[Rule] | None = space.memo.get(("kept rules", data.serial))
    if seen is None:
        if st.button(t("rules.look"), key=f"{key}_look", help=t("rules.look_help")):
            from dpsyn_core.runs import kept_rules

            with refusals():
                tried.see(tried.names(space))
                space.memo["kept rules", data.serial] = kept_rules(schema, data.table)
                st.rerun()
        return
    private_tag()
    note(t("rules.look_found" if seen else "rules.look_none"))
    others = {str(r): r.model_copy(update={"source": None}) for r in seen if str(r) not in rules}  # a box once a page
    _boxes(space, schema, others, why_not, f"{key}_seen")


def _boxes(space: Workspace, schema: Schema, rules: Mapping[str, Rule], why_not: WhyNot, key: str) -> None:
    """Each rule with a tick where it is kept, and a record that it forbids."""
    held = {str(rule): rule.model_dump(mode="json") for rule in schema.rules}
    for name, rule in rules.items():
        mark = f"{key}_{zlib.crc32(name.encode()):08x}_{st.session_state.get(editor.GENERATION, 0)}"
        made = schema if name in held else _with(schema, [*held.values(), rule.model_dump(mode="json")])[0]
        forbidden = ", ".join(f"{n} {_written(cell)}" for n, cell in breaking_record(rule, made).items())
        words = t("rules.would_break", rule=rule_words(rule), record=forbidden) if forbidden else rule_words(rule)
        kept = st.checkbox(literal(words), name in held, key=mark)
        if kept and name not in held:
            _take(space, [*held.values(), *_now(space, rule.model_dump(mode="json"), proposed=True)], why_not)
        if name in held and not kept:
            _take(space, [d for n, d in held.items() if n != name], why_not)


def _written(cell: Any) -> str:
    return local(cell, ".10g") if isinstance(cell, float) else moment(str(cell))


def by_nature(space: Workspace, schema: Schema) -> Schema:
    """The schema with proposed rules that headers show to be public by their nature; one that does not fit is left."""
    for rule in (r for r in propose_rules(schema) if holds_by_nature(r, schema)):
        agreed = _now(space, rule.model_dump(mode="json"), proposed=True)
        made, why = _with(schema, [*_documents(schema), *agreed])
        schema = schema if why else made
    return schema


def form(schema: Schema, key: str, kinds: Sequence[str] = KINDS) -> Fields:
    """An example and the fields of every kind of rule; the rule, once its button is pressed. key: of the fields."""
    kind = one_of(t("rules.kind"), kinds, key=f"{key}_kind", called=lambda k: t(f"rules.{k}"), labelled=True)
    note(t(f"rules.example_{kind}"))
    asked = _asked(schema, kind, key)
    pressed = st.button(t("rules.add"), key=f"{key}_add", disabled=asked is None)
    return {"kind": kind, **asked} if pressed and asked is not None else None


def line(words: str, press: str, key: str) -> bool:
    """A rule and what can be done with it."""
    text, button = st.columns([8, 2], vertical_alignment="center")
    text.markdown(literal(words))
    return button.button(press, key=key)


def _asked(schema: Schema, kind: str, key: str) -> Fields:
    """The rule as the person has it now; None while something is open."""
    listed = [a.name for a in schema.coded if a.listed]
    names = [a.name for a in schema.coded if not a.listed]
    if len(listed if kind == "follows" else names) < FEWEST.get(kind, 0):
        note(t("rules.few_listed" if kind == "follows" else "rules.few"))
        return None
    forms = {
        "order": _order, "difference": _difference, "sum": _sum, "ratio": _ratio, "blank": _blank,
        "follows": _follows, "part": _part, "unique": _unique, "impossible": _impossible,
    }  # fmt: skip
    return forms[kind](schema, listed if kind == "follows" else names, key)


def _impossible(schema: Schema, names: list[str], key: str) -> Fields:
    del schema, names
    where = conditions(f"{key}_where", t("rules.where"), t("rules.where_hint"))
    return {"where": where} if where else None


def _order(schema: Schema, names: list[str], key: str) -> Fields:
    return lie_close(order_fields(names, key), {a.name: a for a in schema.coded}, key)


def lie_close(made: Fields, named: Mapping[str, Any], key: str) -> Fields:
    """An order of two dates with the person's word whether they lie close together; any other order as it is.

    named: attributes by the names that the rule has for them.
    """
    ends = [] if made is None else [named[made["lower"]], named[made["upper"]]]
    if made is None or not all(a.dated for a in ends):
        return made
    usual = named_close(ends[0].name, ends[1].name, precise=ends[1].precise)
    close = st.checkbox(value=usual, key=f"{key}_close_{made['lower']}_{made['upper']}", **field("rules.close"))
    return made | {"close": close}


def order_fields(names: list[str], key: str) -> Fields:
    """Which of two columns is the smaller one; None while one is open."""
    first, second = st.columns(2)
    lower = _column(f"{key}_lower", t("rules.lower"), names, at=first)
    upper = _column(f"{key}_upper", t("rules.upper"), names, at=second)
    strict = st.checkbox(t("rules.strict"), key=f"{key}_strict")
    return {"lower": lower, "upper": upper, "strict": strict} if lower and upper else None


def _difference(schema: Schema, names: list[str], key: str) -> Fields:
    first, second = st.columns(2)
    of = _column(f"{key}_of", t("rules.of"), names, at=first)
    minus = _column(f"{key}_minus", t("rules.minus"), names, at=second)
    column = _column(f"{key}_difference", t("rules.column"), names)
    told = {}
    if of and schema[of].dated:
        units = {u: t(f"rules.unit_{u}") for u in SECONDS}
        usual: dict[str, Any] = {"index": list(units).index("days"), "format_func": units.__getitem__}
        told = {"unit": st.selectbox(t("rules.unit"), list(units), key=f"{key}_unit", **usual)}
    return {"column": column, "of": of, "minus": minus, **told} if column and of and minus else None


def _sum(schema: Schema, names: list[str], key: str) -> Fields:
    del schema
    column = _column(f"{key}_sum", t("rules.total"), names)
    parts = _several(f"{key}_parts", t("rules.parts"), [n for n in names if n != column])
    return {"column": column, "parts": parts} if column and len(parts) > 1 else None


def _ratio(schema: Schema, names: list[str], key: str) -> Fields:
    numbers = [n for n in names if schema[n].limits is not None]
    column = _column(f"{key}_ratio", t("rules.ratio_column"), numbers)
    first, second = st.columns(2)
    of = _column(f"{key}_divided", t("rules.divided"), numbers, at=first)
    by = _column(f"{key}_by", t("rules.by"), numbers, at=second)
    square = st.checkbox(t("rules.square"), key=f"{key}_square")
    times = st.number_input(t("rules.times"), min_value=0.0001, value=1.0, format="%g", key=f"{key}_times")
    made = {"column": column, "of": of, "by": [by, by] if square else [by], "times": times}
    return made if column and of and by else None


def _cell(value: Any) -> str:
    return t("rules.blank_cell") if value is None else literal(str(value))


def _blank(schema: Schema, names: list[str], key: str) -> Fields:
    del names
    cells: dict[str, list[Any]] = {a.name: [*([None] * a.missing), *a.single_values] for a in schema.coded}
    column = _column(f"{key}_blank", t("rules.blank_column"), [n for n, held in cells.items() if held])
    value = None
    if column and cells[column] != [None]:
        value = st.selectbox(t("rules.cell"), cells[column], key=f"{key}_cell", format_func=_cell)
    where = conditions(f"{key}_blank_where", t("rules.blank_where"), t("rules.blank_hint"))
    only = st.checkbox(t("rules.only"), key=f"{key}_only")
    return {"column": column, "where": where, "value": value, "only": only} if column and where else None


def _follows(schema: Schema, names: list[str], key: str) -> Fields:
    of = _several(f"{key}_follows_of", t("rules.follows_of"), names)
    column = _column(f"{key}_follows", t("rules.follows_column"), [a.name for a in schema.coded if a.name not in of])
    pasted = st.text_area(t("rules.map"), key=f"{key}_map", placeholder=t("rules.map_hint"), height=90)
    pairs = [line.split("=", 1) for line in pasted.splitlines() if "=" in line]
    told = {"map": [[k.strip(), v.strip()] for k, v in pairs]} if pairs else {}
    return {"column": column, "of": of, **told} if column and of else None


def _part(schema: Schema, names: list[str], key: str) -> Fields:
    dates = [n for n in names if schema[n].dated]
    numbers = [a.name for a in schema.coded if not a.dated]
    if not (dates and numbers):
        note(t("rules.few_dates"))
        return None
    first, second = st.columns(2)
    of = _column(f"{key}_date", t("rules.date"), dates, at=first)
    parts, told = {p: t(f"rules.part_{p}") for p in get_args(Part)}, {}
    part = second.selectbox(t("rules.part_of"), list(parts), key=f"{key}_part", format_func=parts.__getitem__)
    column = _column(f"{key}_part_column", t("rules.part_column"), numbers)
    if part in COMPLETED:
        told = {"on": st.text_input(t("rules.on"), key=f"{key}_on", placeholder="2020-12-31").strip()}
    made = {"kind": "follows", "column": column, "of": [of], "part": part, **told}
    return made if column and of and all(told.values()) else None


def _unique(schema: Schema, names: list[str], key: str) -> Fields:
    del names
    together = _several(f"{key}_unique", t("rules.together"), [a.name for a in schema.coded])
    return {"together": together} if together else None


def conditions(key: str, label: str, example: str) -> str:
    """A field for conditions, with how they are written."""
    where = st.text_input(label, key=key, placeholder=example).strip()
    note(t("rules.where_note"))
    return where


def _column(key: str, label: str, names: list[str], at: DeltaGenerator | None = None) -> str | None:
    return (at or st).selectbox(label, names, index=None, key=key, format_func=literal, placeholder=t("rules.choose"))


def _several(key: str, label: str, names: list[str]) -> list[str]:
    return st.multiselect(label, names, key=key, format_func=literal, placeholder=t("rules.choose_several"))


def _now(space: Workspace, rule: dict[str, Any], *, proposed: bool = False) -> list[dict[str, Any]]:
    """A rule that is declared now, or proposed and agreed to."""
    return tried.marked(tried.names(space), [rule], proposed=proposed)


def _documents(schema: Schema) -> list[dict[str, Any]]:
    return [r.model_dump(mode="json") for r in schema.rules]


def _with(schema: Schema, rules: list[dict[str, Any]], why_not: WhyNot = None) -> tuple[Schema, str]:
    """The schema with these rules alone, and in one sentence why they cannot be; an empty text where they can."""
    from dpsyn_core.schema import check_rules

    try:
        made = Schema.of(with_ranges({**schema.document(), "rules": rules}))
        check_rules(made, made.n_records)
    except SchemaError as error:
        return schema, sentence(error)
    return made, why_not(made) if why_not is not None else ""


def _take(space: Workspace, rules: list[dict[str, Any]], why_not: WhyNot) -> None:
    """Makes these the rules of the schema, or says in one sentence why they cannot be."""
    if space.schema is None:
        return
    made, why = _with(space.schema, rules, why_not)
    if why:
        st.error(literal(why))
        return
    editor.take(space, made)
    st.rerun()
