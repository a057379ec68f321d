"""Data page: which table, who is one individual in it, and the shortest way to a synthetic one."""

import streamlit as st

from ui.data import profile, projects, quick, sources, who
from ui.linked import diagram
from ui.shared import tables
from ui.shared.state import workspace
from ui.shared.text import counted, number, said, t
from ui.shared.theme import heading, note, private_tag, section

ROLES = {"analyst": "schema", "teacher": "learn", "owner": "export"}

space = workspace()
heading("data")
left, right = st.columns([6, 7], gap="large")
with left:
    section(t("data.source"))
    sources.choose(space)
    if space.parts:
        section(t("data.who"))
        who.panel(space)
    section(t("data.ledger"))
    sources.ledger_name(space)
    projects.panel(space)
with right:
    if space.parts:
        section(space.name)
    diagram.draw(space)
    part = tables.choose(space, key="data_table")
    dataset = part.dataset
    if dataset is not None:
        if sources.refused():
            note(t("data.still", refused=sources.refused(), name=space.name), "warning")
        elif sources.waiting(space):
            most = number(st.get_option("server.maxUploadSize"))
            note(t("data.not_yet", name=space.name, most=most), "warning")
        for notice in dataset.notices:
            note(said(notice), "warning")
        sources.returned(space)
    if dataset is not None and dataset.table is not None:
        width = dataset.table.num_columns
        columns = counted("data.columns", width)
        if space.choices.safe:
            note(f"{columns} {t('data.safe')}")
        else:
            private_tag()
            for sentence in dataset.odd:
                note(said(sentence), "warning")
            if dataset.records is None:
                note(counted("data.shape", dataset.table.num_rows, columns=columns))
            else:
                some, rows = number(dataset.table.num_rows), number(dataset.records)
                note(t("data.large", columns=columns, rows=rows, some=some))
            profile.panel(part, dataset)
    shown = quick.button(space)
if shown is not None:
    quick.result(space, shown)
st.space("medium")
section(t("roles.title"))
for column, role in zip(st.columns(3, gap="large"), ROLES, strict=True):
    with column:
        st.markdown(t(f"roles.{role}"))
        st.page_link(f"pages/{ROLES[role]}.py", label=t(f"roles.{role}_link"))
