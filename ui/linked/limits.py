"""What a limit on children leaves out, for an owner who asks; a limit that is chosen after that is marked."""

import zlib
from collections.abc import Iterable

import streamlit as st

from dpsyn_core.schema import repeats
from ui.schema import tried
from ui.shared.faults import refusals
from ui.shared.limits import ladder
from ui.shared.results import is_kept, kept
from ui.shared.state import Linked, Workspace
from ui.shared.text import counted, t
from ui.shared.theme import note, private_tag

LEFT = ("blank", "repeated", "orphans", "beyond", "shared")  # why records are left out


def look(linked: Linked, names: Iterable[str]) -> None:
    """Writes down that exact answers are shown: what is declared of links and keys from now on is marked.

    Raises OutputError.
    """
    tried.see(keys(linked), "unit")
    tried.see(tried.of_linked(linked))
    linked.looked |= set(names)
    linked.seen = linked.seen or linked.structure()


def looked_before(linked: Linked) -> bool:
    """Whether that was done with these tables before, or with earlier versions of them under their ledger name."""
    return tried.seen(keys(linked), "unit")


def keys(linked: Linked) -> tuple[str, ...]:
    """The keys of looks at what is linked; none for samples, which protect nobody."""
    return () if linked.sample else (linked.serial, *tried.of_linked(linked))


def confirm(linked: Linked) -> None:
    """Keys, links and limits are known without the data, a person says."""
    linked.source, linked.seen = "public", linked.seen and linked.structure()


def panel(space: Workspace, linked: Linked, name: str) -> None:
    """What each limit of the ladder keeps; nothing is read before it is asked for."""
    if space.choices.safe:
        return
    link = linked.links.get(name)
    column = link.key if link is not None else "" if linked.panel is None else linked.panel.person
    if not column:
        return
    mark = f"{zlib.crc32(name.encode()):08x}"
    with st.expander(t("linked.look"), key=f"linked_look_{linked.serial[:8]}_{mark}"):
        note(t("linked.look_lead"))
        if name not in linked.looked:
            if st.button(t("data.limits_look"), key=f"linked_look_button_{mark}"):
                look(linked, [name])
                st.rerun()
            return
        private_tag()
        table = linked.tables()[name]
        found = kept(space, ("linked limits", linked.serial, name, column), lambda: repeats(table, column))
        ladder(found, about="linked", key=f"linked_kept_{mark}")


def left_out(space: Workspace) -> None:
    """What a run leaves out of linked tables, and why: for the owner, once asked for."""
    from dpsyn_core.runs import bounded  # numba is heavy

    linked = space.linked
    schema = None if linked is None else linked.declared()
    if space.choices.safe or linked is None or schema is None:
        return
    with st.expander(t("linked.left"), key="linked_left"):
        note(t("linked.left_lead"))
        key = ("linked left", linked.serial, schema.dumps())
        if not is_kept(space, key):
            if not st.button(t("data.limits_look"), key="linked_left_button"):
                return
            look(linked, linked.parts)
        private_tag()
        inputs = linked.inputs(schema)
        given = {table.name: inputs[schema.name] for table in schema.tables} if schema.one_file else inputs
        with refusals():
            found = kept(space, key, lambda: bounded(schema, given)[1])
            counts = [(one.table, what, getattr(one, what)) for one in found for what in LEFT]
            if not any(count for _, _, count in counts):
                note(t("linked.left_none"))
            for table, what, count in counts:
                if count:
                    note(counted(f"linked.left_{what}", count, table=table), "warning")
