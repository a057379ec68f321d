"""Links drawn and edited: the root, its key, and of each child table parent, key, limit, order and roles."""

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dpsyn_core.schema import LADDER, MOST_CHILDREN, MOST_SINGLES, Schema, proposed_roles, with_keys
from ui.linked import diagram, limits
from ui.linked.tables import LinkDraft
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
        _fields(space, linked)


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
    name = next(n for n, one in linked.parts.items() if one is part)
    kinds = [k for k in rules.KINDS if k != "unique"]  # keys would not fit rules about all records of a table
    return {"kinds": kinds, "why_not": lambda schema: linked.problem_with(name, schema), "key": f"rule_{name}"}


def _fields(space: Workspace, linked: Linked) -> None:
    """The fields of all links, or those of a panel; each change is taken over at once."""
    if linked.panel is not None:
        _panel(space, linked)
        return
    _root(linked)
    for name in linked.parts:
        if name != linked.root:
            _link(space, linked, name)


def field_key(linked: Linked, what: str, name: str = "") -> str:
    """The key of a field; another one for other tables and after a schema was loaded."""
    return f"linked_{what}_{linked.serial[:8]}_{linked.version}_{zlib.crc32(name.encode()):08x}"


def columns_of(linked: Linked, name: str) -> list[str]:
    """The headers of a table."""
    part = linked.parts[name]
    return [] if part.dataset is None or part.dataset.table is None else list(part.dataset.table.column_names)


def _choose(label: str, options: Sequence[str], value: str, key: str, take: Callable[[str], None], **more: Any) -> None:
    """A selector whose change is handed on; a value that is no option counts as none."""
    listed = ["", *options]

    def changed() -> None:
        take(str(st.session_state[key] or ""))

    st.selectbox(
        label,
        listed,
        index=listed.index(value) if value in listed else 0,
        key=key,
        on_change=changed,
        format_func=lambda v: v or t("linked.none"),
        **more,
    )


def _root(linked: Linked) -> None:
    first, second = st.columns(2, gap="medium")
    key = field_key(linked, "root")

    def to_root() -> None:
        decide(linked, str(st.session_state[key]))

    with first:
        names = list(linked.parts)
        st.selectbox(
            t("linked.root"),
            names,
            index=names.index(linked.root),
            key=key,
            on_change=to_root,
            help=t("linked.root_help"),
        )
    with second:
        _choose(
            t("linked.root_key", table=literal(linked.root)),
            columns_of(linked, linked.root),
            linked.keys.get(linked.root, ""),
            field_key(linked, "own", linked.root),
            lambda v: _own_key(linked, linked.root, v),
            help=t("linked.root_key_help"),
        )


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
    linked.keys[name] = own if own in columns_of(linked, name) else ""
    linked.links[before] = LinkDraft(name, key if key in columns_of(linked, before) else "")
    for link in linked.links.values():
        if link.parent == before:
            link.parent = name
    linked.keys[before] = ""
    linked.version += 1


def _own_key(linked: Linked, name: str, column: str) -> None:
    linked.keys[name] = column
    _name_key(linked, name)


def _name_key(linked: Linked, name: str) -> None:
    """Makes the keys of a table identifiers in its schema, so that nothing asks about their values."""
    part = linked.parts[name]
    if part.schema is not None:
        part.schema = with_keys(part.schema, linked.keys_of(name))


def _link(space: Workspace, linked: Linked, name: str) -> None:
    """One child table."""
    link = linked.links[name]

    def parent(value: str) -> None:
        link.parent = value or linked.root

    def key(value: str) -> None:
        link.key = value
        _name_key(linked, name)

    with st.container(border=True, key=field_key(linked, "card", name)):
        st.markdown(f"**{literal(name)}**")
        first, second, third = st.columns(3, gap="medium", vertical_alignment="bottom")
        with first:
            others = [n for n in linked.parts if n != name]
            _choose(t("linked.parent"), others, link.parent, field_key(linked, "parent", name), parent)
        with second:
            _choose(
                t("linked.key", parent=literal(link.parent)),
                columns_of(linked, name),
                link.key,
                field_key(linked, "key", name),
                key,
            )
        with third:
            _most(space, linked, name)
        note(counted("linked.most_means", link.max_children, parent=link.parent))
        _propose_roles(linked, name)
        with st.expander(t("linked.more"), key=field_key(linked, "more", name)):
            _more(linked, name)
        limits.panel(space, linked, name)


def _most(space: Workspace, linked: Linked, name: str) -> None:
    link, key = linked.links[name], field_key(linked, "most", name)

    def changed() -> None:
        link.max_children = int(st.session_state[key])

    st.number_input(
        t("linked.most"),
        1,
        MOST_CHILDREN,
        value=link.max_children,
        key=key,
        on_change=changed,
        help=t("linked.most_help", ladder=", ".join(map(number, LADDER))),
    )


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
    link, columns = linked.links[name], linked.parts[name].schema
    first, second = st.columns(2, gap="medium")
    with first:
        _choose(
            t("linked.own_key"),
            columns_of(linked, name),
            linked.keys.get(name, ""),
            field_key(linked, "own", name),
            lambda v: _own_key(linked, name, v),
            help=t("linked.own_key_help"),
        )
    if columns is None:
        return

    def order(value: str) -> None:
        link.order, link.distinct = value, link.distinct and bool(value)

    def role(value: str) -> None:
        link.role, link.single = value, ()

    with second:
        _choose(
            t("linked.order"),
            ordered(columns),
            link.order,
            field_key(linked, "order", name),
            order,
            help=t("linked.order_help"),
        )
        if link.order:
            key = field_key(linked, "distinct", name)

            def distinct() -> None:
                link.distinct = bool(st.session_state[key])

            st.checkbox(t("linked.distinct"), link.distinct, key=key, on_change=distinct)
    lists = {a.name: [str(v) for v in a.keys] for a in columns.coded if a.listed}
    with first:
        _choose(
            t("linked.role"), list(lists), link.role, field_key(linked, "role", name), role, help=t("linked.role_help")
        )
    if link.role in lists:
        with second:
            key_ = field_key(linked, "single", name + link.role)

            def single() -> None:
                link.single = tuple(st.session_state[key_])

            values = [v for v in lists[link.role] if v]
            st.multiselect(
                t("linked.single"), values, [v for v in link.single if v in values], key=key_, on_change=single,
                max_selections=MOST_SINGLES, help=t("linked.single_help"), placeholder=t("questions.choose"),
            )  # fmt: skip


def ordered(columns: Schema) -> list[str]:
    """Columns that can put a parent's children in an order."""
    return [a.name for a in columns.coded if a.coded_attribute().ordered]


def _panel(space: Workspace, linked: Linked) -> None:
    """One file: the person's column, the wave, what never changes, and how many rows are counted."""
    panel, part = linked.panel, linked.parts[linked.root]
    if panel is None or part.schema is None:
        return
    headers = columns_of(linked, linked.root)

    def person(value: str) -> None:
        panel.person = value
        linked.decided = bool(value)
        part.schema = None if part.schema is None else with_keys(part.schema, [value])
        panel.constant = tuple(n for n in panel.constant if n != value)

    def wave(value: str) -> None:
        panel.wave = value
        panel.constant = tuple(n for n in panel.constant if n != value)

    first, second = st.columns(2, gap="medium")
    with first:
        _choose(
            t("linked.person"), headers, panel.person, field_key(linked, "person"), person, help=t("linked.person_help")
        )
    with second:
        waves = [n for n in ordered(part.schema) if n != panel.person]
        _choose(t("linked.wave"), waves, panel.wave, field_key(linked, "wave"), wave, help=t("linked.wave_help"))
    others = [a.name for a in part.schema.coded if a.name not in (panel.person, panel.wave)]
    key, most = field_key(linked, "constant", panel.person + panel.wave), field_key(linked, "most")

    def constant() -> None:
        panel.constant = tuple(st.session_state[key])

    def limit() -> None:
        value = st.session_state[most]
        panel.most = None if value is None else int(value)

    st.multiselect(
        t("linked.constant"),
        others,
        [n for n in panel.constant if n in others],
        key=key,
        on_change=constant,
        help=t("linked.constant_help"),
        placeholder=t("questions.choose"),
    )
    st.number_input(
        t("linked.most_rows"), 1, MOST_CHILDREN, value=panel.most, key=most, on_change=limit,
        placeholder=t("linked.most_waves"), help=t("linked.rows_help", ladder=", ".join(map(number, LADDER))),
    )  # fmt: skip
    note(t("linked.most_waves_means") if panel.most is None else counted("linked.rows_mean", panel.most))
    limits.panel(space, linked, linked.root)
