"""Asking a release: a figure by groups, of all records or of those that meet a condition, drawn with its intervals."""

import streamlit as st

from dpsyn_core.questions import Answered
from dpsyn_core.report import AskedAnswer, OpenRelease, question_of
from ui.questions import form
from ui.questions.words import asks, name_of
from ui.report import asked
from ui.shared.faults import refusals
from ui.shared.text import t
from ui.shared.theme import note, public_tag, section

KINDS = ("table", "mean", "sum", "quantile", "gap", "gini", "range")
MOST_KEPT = 50  # answers of one release


def panel(found: OpenRelease) -> None:
    """The form on the left, the answer on the right; every change is answered at once."""
    left, right = st.columns([5, 8], gap="large")
    with left:
        section(t("reader.ask"))
        kind = str(
            st.selectbox(t("questions.kind"), KINDS, key="reader_kind", format_func=lambda k: t(f"questions.kind_{k}"))
        )
        document = form.fields_of(found.schema, kind, "reader")
        where = ""
        if st.toggle(t("reader.filter"), key="reader_filter"):
            where = str(form.fields_of(found.schema, "range", "reader_where").get("where", ""))
    with right:
        if found.proof.publishable:
            public_tag()
        if found.proof.public_table:
            note(t("released.public_table"))
        if not document.get({"table": "of", "range": "where"}.get(kind, "kind")):
            st.info(t("reader.empty" if kind == "table" else "reader.empty_range"))
            return
        with refusals("alarm"):
            with st.spinner(t("asked.working")):
                answered = _answered(found, {"name": name_of(document) or "?", **document}, where)
            said = asks(answered.question)
            said = t("reader.of_those", asks=said, where=where) if where else said
            asked.question(AskedAnswer(answered=answered), "reader_answer", asks=said)


def _answered(found: OpenRelease, document: dict[str, object], where: str) -> Answered:
    """The answer; kept with the release, for the first ones take seconds."""
    kept: dict[str, Answered] = st.session_state.setdefault("reader_answers", {})
    key = f"{found.manifest.run_id} {sorted(document.items())!r} {where}"
    if key not in kept:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[key] = found.ask(question_of(document, found.schema), where=where)
    return kept[key]
