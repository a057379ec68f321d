"""Report page: synthetic and real side by side, one question at a time, and what may be published."""

import streamlit as st

from ui.linked import answered, relations
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
from ui.shared.text import literal, t
from ui.shared.theme import end_page, heading, not_private, note, private_tag
from ui.synthesize import runs

OF_LINKS = ("links", "pairs", "columns", "groups", "queries", "incomes", "learning", "attack", "released")
VIEWS = ("pairs", "columns", "groups", "queries", "incomes", "learning", "several", "attack", "released")

space = workspace()
heading("report")
first, second, _ = st.columns([4, 4, 3], vertical_alignment="bottom")
with first:
    job = runs.choose(space, key="report_run")
if job is None:
    runs.empty()
    end_page()
links = bool(job.spec.linked)
chosen = [job]
if not links:
    with second:
        other = runs.choose_second(space, job)
    chosen += [other] if other else []
for run in chosen:
    if not results.manifest(space, run)["private"]:
        not_private(t("stamp.run"))

asks = bool(job.spec.questions) if links else len(asked.questions_of(space, job)) > 0
views = OF_LINKS if links else VIEWS
released_ones = ("asked", "released") if links and asks else ("released",)
wanted = (("asked", *views) if asks else views) if not space.choices.safe else released_ones
view = st.segmented_control(
    t("report.view"), wanted, default=wanted[0], required=True, format_func=lambda v: t(f"report.{v}"),
    key=f"report_view{'_links' if links else ''}", label_visibility="collapsed",
)  # fmt: skip
if space.choices.safe:
    note(t("report.safe"))
if view == "asked" and links:  # from released values alone
    answered.panel(space, job)
    end_page()
if view == "released" or space.choices.safe:
    released.panel(space, job)
    end_page()
if view == "attack" and links:
    note(t("linked.no_attack"))
    end_page()
private_tag()
if view == "attack":
    attack.panel(space, job)
    end_page()
if view == "asked":
    asked.panel(space, job, private=True)
    end_page()
table = ""
if links and view != "links":
    names = [name for name, _ in results.named_schemas(space, job)]
    table = names[0]
    if len(names) > 1:
        table = st.segmented_control(
            t("linked.which"), names, default=names[0], required=True, key=f"report_table_{job.id}",
            label_visibility="collapsed", format_func=literal, persist_state="session",
        ) or names[0]  # fmt: skip
with st.spinner(t("report.comparing")):
    if view == "links" and relations.verdicts(space, job) is not None:
        relations.panel(space, job)
        end_page()
    shown = look(space, chosen, table)
if shown is None:
    note(t("report.other_table"), "warning")
    end_page()
if not links:
    sampled(space, job)
headline.headline(shown)
rules.panel(shown)
st.space("small")
if view == "several":
    several.panel(space, runs.finished(space))
else:
    panels = {
        "pairs": pairs, "columns": columns, "groups": groups, "queries": queries, "incomes": incomes,
        "learning": learning,
    }  # fmt: skip
    panels[view].panel(shown)
