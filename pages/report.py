"""Report page: synthetic and real side by side, one question at a time, and what may be published."""

import streamlit as st

from ui.linked import report_page
from ui.report import (
    asked,
    attack,
    columns,
    groups,
    headline,
    incomes,
    learning,
    pairs,
    queries,
    released,
    rules,
    several,
)
from ui.report.look import look, sampled
from ui.shared import results
from ui.shared.state import workspace
from ui.shared.text import t
from ui.shared.theme import end_page, heading, not_private, note, private_tag
from ui.synthesize import runs

VIEWS = ("pairs", "columns", "groups", "queries", "incomes", "learning", "several", "attack", "released")

space = workspace()
heading("report")
first, second, _ = st.columns([4, 4, 3], vertical_alignment="bottom")
with first:
    job = runs.choose(space, key="report_run")
if job is None:
    runs.empty()
    end_page()
if job.spec.linked:
    report_page.page(space, job)
    end_page()
with second:
    other = runs.choose_second(space, job)
chosen = [job, other] if other else [job]
for run in chosen:
    if not results.manifest(space, run)["private"]:
        not_private(t("stamp.run"))

asks = len(asked.questions_of(space, job)) > 0
wanted = (("asked", *VIEWS) if asks else VIEWS) if not space.choices.safe else ("released",)
view = st.segmented_control(
    t("report.view"), wanted, default=wanted[0], required=True, format_func=lambda v: t(f"report.{v}"),
    key="report_view", label_visibility="collapsed",
)  # fmt: skip
if space.choices.safe:
    note(t("report.safe"))
if view == "released" or space.choices.safe:
    released.panel(space, job)
    end_page()
private_tag()
if view == "attack":
    attack.panel(space, job)
    end_page()
if view == "asked":
    asked.panel(space, job, private=True)
    end_page()
with st.spinner(t("report.comparing")):
    shown = look(space, chosen)
if shown is None:
    note(t("report.other_table"), "warning")
    end_page()
sampled(space, job)
headline.headline(shown)
rules.panel(shown)
st.space("small")
if view == "incomes":
    incomes.panel(space, chosen, shown)
elif view == "several":
    several.panel(space, runs.finished(space))
else:
    {"pairs": pairs, "columns": columns, "groups": groups, "queries": queries, "learning": learning}[view].panel(shown)
