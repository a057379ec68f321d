"""The frame around every page: style, side panel, and the one place where errors become sentences."""

from __future__ import annotations

import html
from types import TracebackType

import streamlit as st

from dpsyn_core.errors import SettingError
from dpsyn_core.runs import check_places_apart
from dpsyn_core.schema import Schema
from ui.data import loading
from ui.privacy import ledger
from ui.shared import help, languages, serving, strangers
from ui.shared.access import classroom, logout_button, require_login
from ui.shared.faults import ShownFaults, explain, remove_messages_from_log
from ui.shared.going import one_entry_a_page
from ui.shared.state import OWNER, jobs, owner, remember_shown, remember_visitor, workspace
from ui.shared.text import ASSETS, counted, field, literal, local, number, sentence, t
from ui.shared.theme import PRACTICE, note, style


class Page:
    """Context of every page. It shows a DPSynError as its sentence, and anything else as one general sentence.

    An error is logged by its type and its places in the code, never by its message, which may quote a value.
    """

    def __enter__(self) -> Page:
        """Style, cookie and a first table; on every page, before its content."""
        remove_messages_from_log()
        serving.load_whole()
        style()
        _check_server()
        if classroom():  # nobody has anything of their own here: no cookie, no table, no ledger
            return self
        require_login()
        remember_visitor()
        one_entry_a_page()
        st.logo(str(ASSETS / "logo" / "logo.svg"), size="large", icon_image=str(ASSETS / "logo" / "mark.svg"))
        if workspace().dataset is None:
            loading.sample(workspace())
        st.session_state[PRACTICE] = workspace().sample
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        """Shows errors and suppresses them; then draws the side panel, which the page may have changed."""
        if not classroom() and OWNER in st.session_state:
            remember_shown(workspace())
        if error is not None and not isinstance(error, Exception):
            return False  # Streamlit's own control flow passes
        shown = error is not None and explain(error)
        with ShownFaults():
            if not classroom():
                with st.sidebar:
                    side_panel()
            serving.fetch_figures()
        serving.prepare()
        return shown


def _check_server() -> None:
    """Ends every page with one sentence on a server that cannot keep its visitors or its folders apart."""
    try:
        strangers.close()
        check_places_apart()
    except SettingError as error:
        st.error(literal(sentence(error)))
        st.stop()


def side_panel() -> None:
    """Dataset, unit of privacy, epsilon spent and left, running job."""
    busy = any(j.live for j in jobs().of(owner()))
    st.fragment(_rows, run_every=2.0 if busy else None)()
    space = workspace()
    more = field("side.safe") | {"on_change": _safe, "persist_state": "session"}
    st.toggle(value=space.choices.safe, key="safe", **more)
    if space.choices.safe:
        note(t("side.safe_on"))
    languages.choose()
    help.menu()
    logout_button()


def _safe() -> None:
    workspace().choices.safe = bool(st.session_state.get("safe"))


def _unit(schema: Schema) -> tuple[str, str]:
    """Who is protected by a run of one table, and what is promised to them."""
    unit = schema.unit
    promise = t(f"neighbours.{unit.neighbours}")
    if unit.identifier is None:
        return t("side.undecided" if schema.unit_from_data else "side.row"), promise
    return t("side.identified", column=unit.identifier), promise + counted("side.theta", unit.max_records)


@ShownFaults()
def _rows() -> None:
    space = workspace()
    rows: list[tuple[str, str, str]] = []
    if space.serial:
        origin = t("side.sample") if space.sample else t("side.ledger", name=space.ledger)
        rows.append((t("side.dataset"), space.name, origin))
    else:
        rows.append((t("side.dataset"), t("side.none"), t("side.none_note")))
    if space.linked is not None:
        rows.append((t("side.unit"), *space.linked.shortly()))
    elif space.schema is not None:
        rows.append((t("side.unit"), *_unit(space.schema)))
    spent, bar = ledger.spent(space), ""
    if spent is not None:
        left = t("side.no_limit")
        if spent.unbounded:
            left = t("side.others", count=number(spent.unbounded))
        elif spent.limit:
            left = t("side.left", left=local(spent.left or 0, ".3g"), limit=local(spent.limit, "g"))
        total = t("side.unbounded") if spent.epsilon is None else local(spent.epsilon, ".3g")
        runs = t("side.runs", runs=spent.runs, left=left) + "."
        words = (runs, spent.sentence(), spent.next_run(space.choices.epsilon))
        rows.append((t("side.spent"), total, " ".join(filter(None, words))))
        if spent.limit:
            share = 100 * min(1.0, (spent.limit if spent.epsilon is None else spent.epsilon) / spent.limit)
            bar = f"<div class='dp-bar'><i style='width:{share:.0f}%'></i></div>"
    live = [j for j in jobs().of(space.owner) if j.live]
    rows += [(t("side.job"), job.label, t(f"state.{job.state}")) for job in live[:2]]
    body = "".join(
        f"<dt>{html.escape(a)}</dt><dd>{html.escape(b)}<small>{html.escape(c)}</small></dd>" for a, b, c in rows
    )
    st.html(f"<dl class='dp-side'>{body}{bar}</dl>")
