"""Report page: what the table is good for on one screen, the rest behind one choice, and what may be published."""

import streamlit as st

from ui.linked import answered, relations
from ui.linked import overview as together
from ui.report import attack, explore, overview, released
from ui.report.look import look, sampled
from ui.shared import results
from ui.shared.choices import one_of
from ui.shared.state import workspace
from ui.shared.tables import one_name
from ui.shared.text import literal, t
from ui.shared.theme import end_page, note, private_tag
from ui.synthesize import runs

TABS = ("overview", "explore", "attack", "released")
LINKS = ""  # of linked tables: what holds across them

space = workspace()
job = runs.headed(space, "report")
links = bool(job.spec.linked)
tabs = TABS if not space.choices.safe else ("released",)
if links and job.spec.questions:  # answers to these rest on released values alone
    tabs = ("asked", *tabs)
with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
    key = f"report_view{'_links' if links else ''}"
    tab = one_of(t("report.view"), tabs, key=key, called=lambda v: t(f"report.{v}"), width="content")
    if not space.choices.safe and tab in ("overview", "explore", "attack"):
        private_tag()
if space.choices.safe:
    note(t("report.safe"))
if tab == "asked":
    answered.panel(space, job)
    end_page()
if tab == "released" or space.choices.safe:
    released.panel(space, job)
    end_page()
if tab == "attack":
    attack.panel(space, job)
    end_page()
table = ""
if links:
    names = [name for name, _ in results.named_schemas(space, job)]
    offered = names if tab == "explore" else [LINKS, *names]
    called = {name: literal(name) for name in names} | {LINKS: t("report.links")}
    table = one_name(offered, key=f"report_table_{tab}_{job.id}", called=called.__getitem__)
if tab == "explore":
    explore.panel(space, job, table)
    end_page()
with st.spinner(t("report.comparing")):
    if links and table == LINKS:
        if relations.verdicts(space, job) is None:
            note(t("report.other_table"), "warning")
        else:
            together.panel(space, job)
        end_page()
    shown = look(space, [job], table)
if shown is None:
    note(t("report.other_table"), "warning")
    end_page()
if not links:
    sampled(space, job)
overview.panel(shown)
