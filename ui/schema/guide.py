"""The guide for one's own table: for each column what was seen, what is proposed as public, and four ways to decide."""

from __future__ import annotations

import html
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.schema import OF_TIMES, READ, RHYTHMS, Schema, TableSchema, asks_ends, is_year
from dpsyn_core.tables import clocks
from ui.data import who
from ui.data.quick import QUICK
from ui.schema import editor, offers
from ui.schema.rows import KINDS, Row, changed, kind_words, range_text, shown
from ui.schema.unit import limited
from ui.shared.going import go_to
from ui.shared.results import kept
from ui.shared.state import Workspace
from ui.shared.text import amount, counted, in_a_row, literal, local, moment, number, percent, sentence, t
from ui.shared.theme import note, private_tag

if TYPE_CHECKING:
    from dpsyn_core.schema import Proposal

PAGE = 12  # columns that are shown at once
STEPS = ("who", "columns", "holds")
PLAIN = {"rounded", "usual", "number", "steps", "common", "calendar", "months", "days"}  # reasons that need no word
LISTING = 250  # pixels of the list of all proposals, which scrolls
LISTED = 1000  # whole numbers that a list may have
VALUES = 8  # values of a list that are written out of what was seen
AT, CHANGING, DONE = "guide_at", "guide_changing", "guide_done"
EDITABLE = tuple(k for k in KINDS if k not in ("follows another", "identifier", "left out"))
BINS_PRICE = "0.1"


def panel(space: Workspace, rules: Callable[[], None]) -> bool:
    """Three questions, one screen each: who is one person, what is public about each column, what always holds.

    Nothing for a schema that nobody drafted from the data. rules: draws the third. Returns whether it was drawn.
    """
    schema, data = space.schema, space.dataset
    if schema is None or data is None or data.table is None:
        return False
    undecided = [a.name for a in schema.attributes if a.source == "data"]
    if not undecided:
        if space.memo.get(DONE) and schema.private and not space.one_of_linked:
            _steps(2)
            rules()
            _done(space)
            return True
        return False
    if not space.one_of_linked and who.undecided(space, schema):
        _steps(0)
        who.panel(space, "primary")
        return False
    proposals = [p for p in _proposals(space, schema, data.table) if p.name in set(undecided)]
    proposals.sort(key=_plainly)  # stable: those with a problem stand first
    _steps(1)
    private_tag()
    note(counted("guide.lead", len(undecided)))
    _ask_of_series(space, schema, data.table)
    start = min(int(st.session_state.get(AT, 0)), max(0, len(proposals) - 1)) // PAGE * PAGE
    shares = _crowded(space, schema, data.table)
    for proposal in proposals[start : start + PAGE]:
        _column(space, proposal, shares.get(proposal.name, 0.0))
    if len(proposals) > PAGE:
        _pager(start, len(proposals))
        _listing(proposals)
    words = counted("guide.agree", len(proposals))  # below what is agreed to
    if st.button(words, key="guide_agree", type="primary", help=t("guide.agree_help")):
        _decide(space, proposals)
    wanted = _wanted(space)
    if wanted:
        note(t("guide.bought", names=", ".join(wanted)))
    return False


def _steps(now: int) -> None:
    """The three questions, and which of them this screen asks."""
    said = "".join(
        f"<li{' aria-current=step' if i == now else ''}>{i + 1}. {html.escape(t(f'guide.{step}'))}</li>"
        for i, step in enumerate(STEPS)
    )
    st.html(f"<ol class='dp-steps'>{said}</ol>")


def _plainly(p: Proposal) -> bool:
    """Whether a proposal is as usual, so that nothing needs to be said about it."""
    return p.document is not None and p.why in PLAIN and not p.rare


def _ask_of_series(space: Workspace, schema: Schema, table: Any) -> None:
    """Who is one individual, where rows follow each other in equal steps of time."""
    from dpsyn_core.schema import series

    serial = space.dataset.serial if space.dataset else ""
    found = kept(space, ("series", serial), lambda: series(schema, table))
    if found is not None and schema.unit.identifier is None:
        of = {"date": found.date, "rows": number(found.rows), "keys": number(found.keys)}
        words = t("guide.series_of", column=found.key, **of) if found.key else t("guide.series", **of)
        note(words, "warning")


def _proposals(space: Workspace, schema: Schema, table: Any) -> list[Proposal]:
    """Made once for a draft, and kept while columns are decided one by one."""
    from dpsyn_core.schema import propose

    serial = space.dataset.serial if space.dataset else ""
    known: dict[str, Proposal] = kept(space, ("proposals", serial), dict)
    lacking = [a for a in schema.attributes if a.source in READ and a.name not in known]
    if lacking:
        known.update({p.name: p for p in propose(schema, table) if p.name not in known})
    return [known[a.name] for a in schema.attributes if a.name in known]


def _crowded(space: Workspace, schema: Schema, table: Any) -> dict[str, float]:
    """Share of the records in the fullest bin of a number, by column; for the owner."""
    from dpsyn_core.schema import agreed, crowded

    serial = space.dataset.serial if space.dataset else ""
    return kept(
        space, ("crowded", serial), lambda: crowded(agreed(schema, _proposals(space, schema, table)), table)
    )  # fmt: skip


def _listing(proposals: list[Proposal]) -> None:
    """All proposals, those of other pages too, above the button that agrees to all of them."""
    with st.container(height=LISTING, key="guide_listing"):
        st.html("".join(_words(p, _seen(p)) for p in proposals))


def _words(p: Proposal, small: str) -> str:
    """A proposal for the page, with what was seen."""
    said = (html.escape(text) for text in (p.name, proposed(p), small))
    return "<p class='dp-guide'><b>{}</b> {}<small>{}</small></p>".format(*said)


def _column(space: Workspace, p: Proposal, share: float) -> None:
    """One line: the proposal, one press that agrees to it, and all else behind another."""
    mark = _mark(p.name)
    with st.container(key=f"guide_{mark}"):
        words, presses = st.columns([7, 4], vertical_alignment="center", gap="small")
        with words:
            st.html(_words(p, _seen(p) if _plainly(p) else f"{_seen(p)} {_why(p)}"))
            if asks := asks_ends(p):
                note(t(f"guide.ask_{asks}"))
            if share > 0.5:
                note(t("guide.crowded", share=percent(share, 0), epsilon=BINS_PRICE), "warning")
        with presses, st.container(horizontal=True, gap="small"):
            known = p.document is not None
            if known and st.button(t("guide.know"), key=f"know_{mark}", width="stretch"):
                _decide(space, [p])
            with st.popover(t("guide.other"), width="stretch"):
                _ways(space, p, mark)
        if st.session_state.get(CHANGING) == p.name:
            _form(space, p)


def _ways(space: Workspace, p: Proposal, mark: str) -> None:
    if _plainly(p):
        note(_why(p))
    if p.document is not None and (p.document["kind"] == "numeric" or asks_ends(p)):
        _natural_ends(space, p.document, mark)
    if space.schema is not None and offers.is_offered(p.document):
        listed = offers.panel(space.schema, p.name, mark)
        if listed is not None:
            _take(space, [listed])
    with st.container(horizontal=True, gap="small"):
        if st.button(t("guide.change"), key=f"change_{mark}"):
            st.session_state[CHANGING] = None if st.session_state.get(CHANGING) == p.name else p.name
            st.rerun()
        if not space.one_of_linked and st.button(t("guide.buy"), key=f"buy_{mark}"):
            _buy(space, p)
        if st.button(t("guide.leave"), key=f"leave_{mark}"):
            _take(space, [{"name": p.name, "kind": "ignored", "source": "public"}])


def _natural_ends(space: Workspace, document: dict[str, Any], mark: str) -> None:
    """Asks for ends that a number has by definition; an end that nobody names stays rounded."""
    listed = document["kind"] == "categorical"  # of whole numbers
    if listed:
        document = document | {"min": min(document["values"]), "max": max(document["values"])}
    with st.form(f"ends_{mark}", border=False):
        note(t("guide.ends_lead", low=_plain(document["min"], document), high=_plain(document["max"], document)))
        first, second = st.columns(2)
        with first:
            low = st.text_input(t("guide.ends_low"), key=f"low_{mark}")
        with second:
            high = st.text_input(t("guide.ends_high"), key=f"high_{mark}")
        saved = st.form_submit_button(t("guide.ends_save"))
    if not saved:
        return
    ends = {end: text.strip() for end, text in (("min", low), ("max", high)) if text.strip()}
    if listed:
        _shorter_list(space, document, ends)
        return
    cells = shown(document)
    made = changed(Row(document, {}), {**cells, "content": range_text(document, **ends)})
    if made.problem:
        st.error(literal(sentence(ValueError(made.problem))))
        return
    _take(space, [{**made.document, "source": "public"}])


def _shorter_list(space: Workspace, document: dict[str, Any], ends: Mapping[str, str]) -> None:
    """Takes all whole numbers between the ends that a person named."""
    try:
        first, last = (int(ends.get(end, document[end])) for end in ("min", "max"))
    except ValueError:
        st.error(t("guide.ends_whole"))
        return
    if not 0 <= last - first < LISTED:
        st.error(t("guide.ends_whole"))
        return
    kept = {k: v for k, v in document.items() if k not in ("min", "max")}
    _take(space, [kept | {"values": [*range(first, last + 1)], "source": "public"}])


def _form(space: Workspace, p: Proposal) -> None:
    """Kind, values or range, bins: the proposal to start from, saved as what the person knows."""
    document = p.document or {"name": p.name, "kind": "categorical", "values": ["a"], "source": "public"}
    cells = shown(document)
    mark = _mark(p.name)
    with st.form(f"form_{mark}", border=False):
        first, second, third, fourth = st.columns([3, 6, 3, 3], vertical_alignment="bottom")
        with first:
            kinds = list(EDITABLE)
            at = kinds.index(cells["kind"])
            kind = st.selectbox(t("guide.kind"), kinds, index=at, key=f"kind_{mark}", format_func=kind_words)
        with second:
            start = cells["content"] if p.document else ""
            content = st.text_input(t("guide.content"), start, key=f"content_{mark}", help=t("schema.help_content"))
        with third:
            bins = st.text_input(t("guide.bins"), cells["bins"], key=f"bins_{mark}", help=t("schema.help_bins"))
        with fourth:
            example = _example(document)
            way = st.text_input(t("guide.formats"), example, key=f"way_{mark}", help=t("guide.formats_help"))
        rhythm = _rhythm_box(document, mark) if document["kind"] == "datetime" else None
        saved = st.form_submit_button(t("guide.save"), type="primary")
    if not saved:
        return
    edits = {**cells, "name": p.name, "kind": kind, "content": content, "bins": bins, "source": "public"}
    if kind in ("category", "ordered category"):
        edits["bins"] = ""
    made = changed(Row(document, {}), edits)
    if made.problem:
        st.error(literal(sentence(ValueError(made.problem))))
        return
    after = {**made.document, "source": "public"}
    if rhythm is not None and after["kind"] == "datetime" and rhythm != (document.get("rhythm") or ""):
        after.pop("rhythm", None)
        made = changed(Row(after, {}), {**shown(after), "content": range_text(after, rhythm=rhythm)})
        if made.problem:
            st.error(literal(sentence(ValueError(made.problem))))
            return
        after = made.document
    if (way or "").strip() != example or after["kind"] != document["kind"]:
        refused = _write(after, (way or "").strip())
        if refused:
            st.error(refused)
            return
    st.session_state[CHANGING] = None
    _take(space, [after])


def _rhythm_box(document: Mapping[str, Any], mark: str) -> str:
    """The days or times that can be, as a choice; empty for all of them."""
    timed = "T" in document["min"]
    options = ["", *(r for r in RHYTHMS if (r in OF_TIMES) == timed)]
    return st.selectbox(
        t("guide.rhythm"), options, index=options.index(document.get("rhythm") or ""), key=f"rhythm_{mark}",
        format_func=lambda r: rhythm_words(r or ("second" if timed else "day")), help=t("guide.rhythm_help"),
    )  # fmt: skip


def rhythm_words(rhythm: str) -> str:
    """A rhythm in the visitor's language."""
    return t(f"guide.rhythm_{rhythm.replace('-', '_')}")


def _example(document: Mapping[str, Any]) -> str:
    """How the cells of a column are written, by an example; empty where nothing is declared."""
    from dpsyn_core.schema import date_formats as written_dates

    if document["kind"] == "datetime":
        return written_dates.shown(document)
    return str(document.get("written") or "")


def _write(document: dict[str, Any], example: str) -> str:
    """Declares how cells are written, by an example or a strptime format; a sentence where neither can be read."""
    from dpsyn_core.schema import date_formats as written_dates

    document.pop("written", None)
    document.pop("formats", None)
    if document["kind"] == "numeric" and example:
        document["written"] = example
    if document["kind"] == "datetime" and example:
        try:
            document["formats"] = list(written_dates.formats_of(example))
        except DPSynError:
            return t("guide.no_date", example=literal(example))
    return ""


def _decide(space: Workspace, proposals: list[Proposal]) -> None:
    _take(space, [p.document or {"name": p.name, "kind": "ignored", "source": "public"} for p in proposals])


def _take(space: Workspace, documents: list[dict[str, Any]]) -> None:
    """Makes documents of columns the schema's. Says what is wrong where they do not fit."""
    if space.schema is None:
        return
    by_name = {d["name"]: d for d in documents}
    whole = space.schema.document()
    whole["attributes"] = [by_name.get(a["name"], a) for a in whole["attributes"]]
    try:
        made = TableSchema.of(whole)
    except DPSynError as error:
        st.error(literal(sentence(error)))
        return
    space.memo[DONE] = True
    editor.take(space, made)
    editor.sync(space)
    editor.redraw()
    st.rerun()


def _buy(space: Workspace, p: Proposal) -> None:
    """Puts a column on the list of the section that buys; one that was left out is bought as a category."""
    if space.dataset is None or space.schema is None:
        return
    key = f"buying_{space.dataset.serial}"
    chosen = [n for n in st.session_state.get(key, []) if n in _wanted(space)]
    st.session_state[key] = list(dict.fromkeys([*chosen, p.name]))
    space.memo["guide_buys"] = list(st.session_state[key])
    if p.document is None:
        stand_in = {"name": p.name, "kind": "categorical", "values": ["a"], "source": "data", "missing": True}
        whole = space.schema.document()
        whole["attributes"] = [stand_in if a["name"] == p.name else a for a in whole["attributes"]]
        editor.take(space, TableSchema.of(whole))
        editor.sync(space)
    st.rerun()


def _wanted(space: Workspace) -> list[str]:
    undecided = {a.name for a in space.schema.attributes if a.source == "data"} if space.schema else set()
    return [n for n in space.memo.get("guide_buys", []) if n in undecided]


def _pager(start: int, count: int) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if st.button(t("guide.before"), key="guide_before", disabled=start == 0):
            st.session_state[AT] = start - PAGE
            st.rerun()
        note(t("guide.page", first=start + 1, last=min(start + PAGE, count), count=number(count)))
        if st.button(t("guide.after"), key="guide_after", disabled=start + PAGE >= count):
            st.session_state[AT] = start + PAGE
            st.rerun()


def _done(space: Workspace) -> None:
    """Every column is decided: the shortest way to the synthetic table."""
    from ui.synthesize import methods
    from ui.synthesize.starting import problem, start

    st.success(t("guide.done"))
    why = problem(space)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        pressed = st.button(limited(t("guide.run"), space.schema), key="guide_run", type="primary", disabled=bool(why))
        note(
            sentence(ValueError(why)) if why
            else t("guide.run_note", epsilon=amount(space.choices.epsilon), method=methods.chosen(space)),
            "alarm" if why else "note",
        )  # fmt: skip
    if pressed:
        try:
            st.session_state[QUICK] = start(space).id
        except DPSynError as error:
            st.error(literal(sentence(error)))
        else:
            go_to("data")


def proposed(p: Proposal) -> str:
    """A proposal in words: all that a person agrees to, also what a single cell decides in a draft."""
    d = p.document
    if d is None:
        return t("guide.none")
    return _what(d) + (t("guide.as_missing") if d.get("missing") else t("guide.as_filled"))


def _what(d: Mapping[str, Any]) -> str:
    """Kind, values or range, form and bins of an attribute in words."""
    cells = shown(dict(d))
    if d["kind"] == "categorical":
        way = "as_beginnings" if d.get("by_prefix") else "as_values"
        words = t(f"guide.{way}_other" if d.get("other") else f"guide.{way}")
        values = offers.values_words(d["values"]) or _every(d["values"])
        return words.format(kind=kind_words(cells["kind"]), values=values)
    if d["kind"] == "datetime":
        way = _example(d)
        key = "guide.as_dates_written" if way else "guide.as_dates"
        words = t(key, low=moment(d["min"][:10]), high=moment(d["max"][:10]), way=way)
        if d.get("rhythm"):
            words += t("guide.as_rhythm", rhythm=rhythm_words(d["rhythm"]))
    else:
        words = t("guide.as_range", kind=kind_words(cells["kind"]), low=_plain(d["min"], d), high=_plain(d["max"], d))
        if d.get("step") not in (None, 1):
            words += " " + t("guide.as_step", step=local(d["step"], "g"))
        if d.get("written"):
            words += t("guide.as_written", example=d["written"])
        if d.get("scale") == "log":
            words += t("guide.as_log")
        if d.get("special_values"):
            words += t("guide.as_special", values=_every([_plain(v, d) for v in d["special_values"]]))
    every = (d.get("bins") or {}).get("every")
    bins = t(f"questions.bins_{every}") if every else cells["bins"]
    return words + (t("guide.as_bins", bins=bins) if bins else "")


def _plain(value: float, column: Mapping[str, Any]) -> str:
    """A number of a column's range without an empty fraction, with marks between thousands unless it is a year."""
    if ":" in str(column.get("written") or ""):
        return str(clocks.written(np.array([value]), str(column["written"]))[0].as_py())
    if any(is_year(str(column.get(key) or ""), value) for key in ("name", "label")):
        return format(value, "g")
    return local(int(value), ",") if float(value).is_integer() else local(value, ",.10g")


def _seen(p: Proposal) -> str:
    seen: Mapping[str, Any] = p.seen
    if seen["what"] == "range":
        as_written = p.why == "written"  # a date of digits has no marks between thousands
        low, high = (
            moment(str(v))
            if as_written or isinstance(v, str)
            else _plain(v, {"name": p.name, "written": (p.document or {}).get("written")})
            for v in (seen["low"], seen["high"])
        )
        return t("guide.seen_range", low=low, high=high)
    if seen["what"] == "values":
        proposed_values = [str(v) for v in (p.document or {}).get("values", ())]
        if len(proposed_values) > 1 and proposed_values == [str(v) for v in seen["values"]]:
            return t("guide.seen_same")
        return t("guide.seen_values", values=_listed(seen["values"]))
    return t("guide.seen_distinct", count=number(seen["count"]), records=number(seen["records"]))


def _why(p: Proposal) -> str:
    rare = " " + t("guide.why_rare", count=number(p.rare)) if p.rare else ""
    return t(f"guide.why_{p.why}") + rare


def _every(values: list[Any]) -> str:
    """All of them: whoever agrees to a list agrees to each of its values."""
    return in_a_row([local(v, ".10g") if isinstance(v, float) else str(v) for v in values])


def _listed(values: list[Any]) -> str:
    text = _every(values[:VALUES])
    more = len(values) - VALUES
    return t("guide.seen_more", values=text, count=number(more)) if more > 0 else text


def _mark(name: str) -> str:
    """A key of a widget from a header, which may hold anything."""
    return f"{zlib.crc32(name.encode()):08x}"
