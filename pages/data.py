"""Data page: what to open, who is one individual in it, its columns at once, and one press to a synthetic table."""

import streamlit as st

from ui.data import profile, projects, quick, real, sources, who
from ui.linked import diagram
from ui.shared import tables
from ui.shared.state import workspace
from ui.shared.text import counted, number, said, t, usual
from ui.shared.theme import heading, note, private_tag, section

space = workspace()
heading("data")
asks = space.linked is not None and space.linked.asks  # next to the files it would be far down
left, right = st.columns([3.4, 8], gap="medium")
with left:
    sources.choose(space)
    with st.container(key="data_who"):  # on a phone below what is to be pressed
        if space.parts and not asks:
            section(t("data.who"))
            who.panel(space)
        sources.ledger_name(space)
        projects.panel(space)
with right:
    if space.parts:
        section(space.name)
    if asks:
        who.panel(space)
    shown = quick.button(space)
    diagram.draw(space)
    part = tables.choose(space, key="data_table")
    dataset = part.dataset
    if dataset is not None:
        if sources.refused():
            note(t("data.still", refused=sources.refused(), name=space.name), "warning")
        elif sources.waiting(space):
            most = number(st.get_option("server.maxUploadSize"))
            note(t("data.not_yet", name=space.name, most=most))
        for notice in dataset.notices:
            if not usual(notice):
                note(said(notice), "warning")
        sources.returned(space)
    if shown is not None and shown.live:
        quick.result(space, shown)
    if dataset is not None and dataset.table is not None:
        linked, width = space.linked, dataset.table.num_columns
        columns = counted("data.columns", width if linked is None else linked.width(linked.name_of(part)))
        plain = " ".join(said(s) for s in (*dataset.notices, *([] if space.choices.safe else dataset.odd)) if usual(s))
        if space.choices.safe:
            note(f"{columns} {t('data.safe')} {plain}")
        else:
            private_tag()
            if dataset.records is None:
                note(f"{counted('data.shape', dataset.table.num_rows, columns=columns)} {plain}")
            else:
                some, rows = number(dataset.table.num_rows), number(dataset.records)
                note(f"{t('data.large', columns=columns, rows=rows, some=some)} {plain}")
            for sentence in dataset.odd:
                if not usual(sentence):
                    note(said(sentence), "warning")
            done = None if space.linked is not None else quick.finished(space)
            profile.panel(part, dataset, done)
            if done is not None:
                real.panel(space, done)
if shown is not None and not shown.live:
    quick.result(space, shown)
