"""Links drawn and edited: the root, its key, and of each child table parent, key, limit, order and roles."""

import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpsyn_core.schema import (
    LADDER,
    MOST_CHILDREN,
    MOST_SINGLES,
    LinkDraft,
    PanelDraft,
    Schema,
    proposed_roles,
    with_keys,
)
from ui.linked import diagram, limits
from ui.schema import rules
from ui.shared.going import go_to
from ui.shared.state import Linked, Workspace
from ui.shared.text import counted, literal, number, sentence, t
from ui.shared.theme import note
from ui.shared.theme import section as heading


def section(space: Workspace) -> None:
    """The diagram, why the tables do not fit together, and the fields of links or of a panel; nothing for one table."""
    linked = space.linked
    if linked is None:
        return
    left, right = st.columns([7, 5], gap="large")
    with right:
        heading(t("linked.diagram"))
        diagram.draw(space)
        if why := linked.problem():
            st.error(literal(sentence(ValueError(why))))
        if linked.unit_source == "data":
            _confirm(linked)
    with left:
        heading(t("linked.links"))
        if linked.panel is not None:
            _panel(space, linked, linked.panel)
            return
        _root(linked)
        for name in linked.parts:
            if name != linked.root:
                _link(space, linked, name)


def _confirm(linked: Linked) -> None:
    """Says that links were chosen after a look, or that nobody said who is one individual, and how it is mended."""
    with st.container(border=True, key="linked_source"):
        if not linked.decided:
            note(t("unit.undecided"), "alarm")
            if st.button(t("unit.decide"), key="linked_decide"):
                go_to("data")
            return
        note(t("linked.stamp_links"), "alarm")
        if st.button(t("unit.known"), key="linked_known", help=t("linked.known_help")):
            limits.confirm(linked)
            st.rerun()


def rules_of(space: Workspace, part: Workspace) -> dict[str, Any]:
    """Returns what the rules of a table may be: of linked ones no keys, and nothing that the links refuse."""
    linked = space.linked
    if linked is None:
        return {}
    name = linked.name_of(part)
    kinds = [k for k in rules.KINDS if k != "unique"]  # keys would not fit rules about all records of a table
    return {"kinds": kinds, "why_not": lambda schema: linked.problem_with(name, schema), "key": f"rule_{name}"}


def field_key(linked: Linked, what: str, name: str = "") -> str:
    """The key of a field; another one for other tables and after a schema was loaded."""
    return f"linked_{what}_{linked.serial[:8]}_{linked.version}_{zlib.crc32(name.encode()):08x}"


def _field(
    draw: Callable[..., Any], label: str, key: str, take: Callable[[Any], None], *given: Any, **more: Any
) -> None:
    """A field of Streamlit's whose change is handed on before the page is drawn again."""
    draw(label, *given, key=key, on_change=lambda: take(st.session_state[key]), **more)


def _choose(label: str, options: Sequence[str], value: str, key: str, take: Callable[[str], None], **more: Any) -> None:
    """A selector that may stay empty; a value that is no option counts as none."""
    listed = ["", *options]
    at = listed.index(value) if value in listed else 0
    _field(st.selectbox, label, key, take, listed, at, format_func=lambda v: v or t("linked.none"), **more)


def root_field(linked: Linked, key: str, chosen: str | None) -> None:
    """Which table has one record for each individual. chosen: None while no person has said so."""
    names = list(linked.parts)
    at = None if chosen is None else names.index(chosen)
    more = {"help": t("linked.root_help"), "placeholder": t("data.individual_choose")}
    _field(st.selectbox, t("linked.root"), key, lambda name: decide(linked, name), names, at, **more)


def _root(linked: Linked) -> None:
    first, second = st.columns(2, gap="medium")
    with first:
        root_field(linked, field_key(linked, "root"), linked.root)
    with second:
        _own_key(linked, linked.root, t("linked.root_key", table=literal(linked.root)), t("linked.root_key_help"))


def decide(linked: Linked, root: str) -> None:
    """Takes a person's word that one individual is one record of this table with all that hangs on it."""
    if root != linked.root:
        _move_root(linked, root)
    linked.decided = True
    linked.version += 1


def _move_root(linked: Linked, name: str) -> None:
    """Another table is the root: the one before hangs on it by the key that it was named by, where there is one."""
    before, linked.root = linked.root, name
    key = linked.keys.get(before, "")
    own = linked.links.pop(name).key if name in linked.links else key
    linked.keys[name] = own if own in linked.headers(name) else ""
    linked.links[before] = LinkDraft(name, key if key in linked.headers(before) else "")
    for link in linked.links.values():
        if link.parent == before:
            link.parent = name
    linked.keys[before] = ""


def _own_key(linked: Linked, name: str, label: str, tip: str) -> None:
    """The column that names the records of a table, where one does."""

    def own(value: str) -> None:
        linked.keys[name] = value
        _name_key(linked, name)

    _choose(label, linked.headers(name), linked.keys.get(name, ""), field_key(linked, "own", name), own, help=tip)


def _name_key(linked: Linked, name: str) -> None:
    """Makes the keys of a table identifiers in its schema, so that nothing asks about their values."""
    part = linked.parts[name]
    if part.schema is not None:
        part.schema = with_keys(part.schema, linked.keys_of(name))


def _link(space: Workspace, linked: Linked, name: str) -> None:
    """One child table."""
    link, key = linked.links[name], partial(field_key, linked, name=name)

    def parent(value: str) -> None:
        link.parent = value or linked.root

    def named(value: str) -> None:
        link.key = value
        _name_key(linked, name)

    with st.container(border=True, key=key("card")):
        st.markdown(f"**{literal(name)}**")
        first, second, third = st.columns([4, 5, 4], gap="small", vertical_alignment="bottom")
        with first:
            others = [n for n in linked.parts if n != name]
            _choose(t("linked.parent"), others, link.parent, key("parent"), parent)
        with second:
            label = t("linked.key", parent=literal(link.parent))
            _choose(label, linked.headers(name), link.key, key("key"), named)
        with third:
            tip = t("linked.most_help", ladder=", ".join(map(number, LADDER)))
            given, take = (1, MOST_CHILDREN, link.max_children), partial(setattr, link, "max_children")
            _field(st.number_input, t("linked.most"), key("most"), take, *given, help=tip)
        note(counted("linked.most_means", link.max_children, parent=link.parent))
        _propose_roles(linked, name)
        with st.expander(t("linked.more"), key=key("more")):
            _more(linked, name)
        limits.panel(space, linked, name)


def _propose_roles(linked: Linked, name: str) -> None:
    """Offers to declare roles that names of columns and values tell: without, what ties a child to its role is lost."""
    link, columns = linked.links[name], linked.parts[name].schema
    found = None if link.role or columns is None else proposed_roles(columns)
    if found is None:
        return
    column, once = found
    note(t("linked.roles_seen", column=literal(column), roles=literal(", ".join(once)), parent=literal(link.parent)))
    if st.button(t("linked.roles_declare"), key=field_key(linked, "roles", name)):
        link.role, link.single = column, once
        linked.version += 1
        st.rerun()


def _more(linked: Linked, name: str) -> None:
    """Own key, order and roles."""
    link, columns, key = linked.links[name], linked.parts[name].schema, partial(field_key, linked, name=name)

    def order(value: str) -> None:
        link.order, link.distinct = value, link.distinct and bool(value)

    def role(value: str) -> None:
        link.role, link.single = value, ()

    first, second = st.columns(2, gap="medium")
    with first:
        _own_key(linked, name, t("linked.own_key"), t("linked.own_key_help"))
    if columns is None:
        return
    lists = {a.name: [str(v) for v in a.keys if v] for a in columns.coded if a.listed}
    with first:
        _choose(t("linked.role"), list(lists), link.role, key("role"), role, help=t("linked.role_help"))
    with second:
        _choose(t("linked.order"), ordered(columns), link.order, key("order"), order, help=t("linked.order_help"))
        if link.order:
            take = partial(setattr, link, "distinct")
            _field(st.checkbox, t("linked.distinct"), key("distinct"), take, link.distinct)
        if link.role in lists:
            at = field_key(linked, "single", name + link.role)
            _several("single", lists[link.role], link, at, max_selections=MOST_SINGLES)


def _several(what: str, options: Sequence[str], draft: LinkDraft | PanelDraft, key: str, **more: Any) -> None:
    """Some of the options, as a tuple of this name in a draft; what stands there and is no option is left out."""
    words = {"help": t(f"linked.{what}_help"), "placeholder": t("questions.choose")}
    chosen = [one for one in getattr(draft, what) if one in options]

    def take(values: list[str]) -> None:
        setattr(draft, what, tuple(values))

    _field(st.multiselect, t(f"linked.{what}"), key, take, options, chosen, **words, **more)


def ordered(columns: Schema) -> list[str]:
    """Columns that can put a parent's children in an order."""
    return [a.name for a in columns.coded if a.coded_attribute().ordered]


def _panel(space: Workspace, linked: Linked, panel: PanelDraft) -> None:
    """One file: the person's column, the wave, what never changes, and how many rows are counted."""
    part, key = linked.parts[linked.root], partial(field_key, linked)
    if part.schema is None:
        return

    def person(value: str) -> None:
        panel.person = value
        linked.decided = bool(value)
        _name_key(linked, linked.root)
        panel.constant = tuple(n for n in panel.constant if n != value)

    def wave(value: str) -> None:
        panel.wave = value
        panel.constant = tuple(n for n in panel.constant if n != value)

    first, second = st.columns(2, gap="medium")
    with first:
        headers = linked.headers(linked.root)
        _choose(t("linked.person"), headers, panel.person, key("person"), person, help=t("linked.person_help"))
    with second:
        waves = [n for n in ordered(part.schema) if n != panel.person]
        _choose(t("linked.wave"), waves, panel.wave, key("wave"), wave, help=t("linked.wave_help"))
    others = [a.name for a in part.schema.coded if a.name not in (panel.person, panel.wave)]
    _several("constant", others, panel, key("constant", panel.person + panel.wave))
    words = {
        "help": t("linked.rows_help", ladder=", ".join(map(number, LADDER))),
        "placeholder": t("linked.most_waves"),
    }
    given, take = (1, MOST_CHILDREN, panel.most), partial(setattr, panel, "most")
    _field(st.number_input, t("linked.most_rows"), key("most"), take, *given, **words)
    note(t("linked.most_waves_means") if panel.most is None else counted("linked.rows_mean", panel.most))
    limits.panel(space, linked, linked.root)
