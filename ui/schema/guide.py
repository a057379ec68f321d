"""The guide for one's own table: who is one person, what is public about its columns, what always holds."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dpsyn_core.errors import UNSEEN, DPSynError
from dpsyn_core.schema import READ, Schema, asks_ends
from dpsyn_core.tables import clocks
from ui.data import who
from ui.data.quick import QUICK
from ui.schema import editor, offers, rules
from ui.schema.rows import KINDS, Row, changed, kind_words, ranged, shown, with_columns
from ui.schema.unit import limited
from ui.shared.faults import refusals
from ui.shared.going import go_to
from ui.shared.results import kept
from ui.shared.state import Workspace
from ui.shared.text import (
    amount,
    counted,
    escaped,
    field,
    in_a_row,
    language,
    literal,
    local,
    moment,
    number,
    percent,
    sentence,
    t,
)
from ui.shared.theme import not_private, note, private_tag

if TYPE_CHECKING:
    import pandas as pd

    from dpsyn_core.schema import Proposal

STEPS = ("who", "columns", "holds")
PLAIN = {"rounded", "usual", "number", "steps", "common"}  # reasons that need no word
PLAIN |= {"calendar", "months", "days", "written", "list"}
NAMING = ("unique", "person")  # why a column may name persons or records
SHOWN = 14  # lines of the table before it scrolls
ALSO, SEEN = 190, 190  # pixels of the last two columns
WIDE = 960  # pixels that the table has in a window of 1280, by the style sheet
FITS = 24  # characters of a list that a cell shows; longer ones stand below the table too
VALUES = 8  # values of a list that are written out of what was seen
FRAME, DONE = "guide_frame", "guide_done"
EDITED = ("kind", "content")
EDITABLE = tuple(k for k in KINDS if k not in ("follows another", "identifier"))
BINS_PRICE = "0.1"
LONG = 10_000  # from here on a number has marks between its thousands
UNREADABLE = "\ufffd"  # in place of bytes that are no letter in the encoding


def screen(space: Workspace) -> int | None:
    """Which of the three questions is open; None for a schema that nobody drafted from the data."""
    schema, data = space.schema, space.dataset
    if schema is None or data is None or data.table is None:
        return None
    if any(a.source == "data" for a in schema.attributes):
        open_still = who.undecided(space, schema) or who.limit_open(space, schema)
        return 0 if open_still and not space.one_of_linked else 1
    return 2 if space.memo.get(DONE) and not space.one_of_linked else None


def panel(space: Workspace, always: Callable[[], None]) -> None:
    """Three questions, one screen each: who is one person, what is public about each column, what always holds.

    always: draws the third.
    """
    at, schema, data = screen(space), space.schema, space.dataset
    if at is None or schema is None or data is None:
        return
    if not space.one_of_linked:  # of those the other two are asked elsewhere
        _steps(at)
    if at == 0:
        who.panel(space, guided=True)
        left = space.schema or schema  # as the panel above left it
        if who.limit_open(space, left):
            who.confirm_limit(space, left)
    elif at == 1:
        _columns(space, schema, data.table)
    else:
        always()
        _done(space)


def _columns(space: Workspace, schema: Schema, table: Any) -> None:
    """The second screen: problems first, the table, and one press that confirms what is left of it."""
    proposals = sorted(_proposals(space, schema, table), key=_plainly)  # stable: those with a problem stand first
    not_private(t("guide.lead"))
    private_tag()
    _ask_of_series(space, schema, table)
    left = [p for p in proposals if _sources(schema)[p.name] == "data"]
    _problems(space, left, _crowded(space, schema, table))
    documents, ticks = _table(space, schema, proposals)
    _in_full(documents)
    undecided = [d for d in documents if _sources(schema)[d["name"]] == "data"]
    words = counted("guide.agree", sum(not ticks[d["name"]] for d in undecided))  # below what is agreed to
    if st.button(words, key="guide_agree", type="primary", help=t("guide.agree_help")):
        _take(space, undecided)
    wanted = _wanted(space)
    if wanted:
        note(t("guide.bought", names=", ".join(wanted)))


def _sources(schema: Schema) -> dict[str, str]:
    return {a.name: a.source for a in schema.attributes}


def _table(space: Workspace, schema: Schema, proposals: list[Proposal]) -> tuple[list[dict[str, Any]], dict[str, bool]]:
    """One line a column, edited in place; a tick, or an edit, is a person's word and is taken over at once.

    Returns:
        The document of each column as it stands in the table, as public knowledge; and which columns are ticked.
    """

    def begin() -> tuple[list[dict[str, Any]], pd.DataFrame]:
        import pandas as pd

        documents = [_document(schema, p) for p in proposals]
        lines = [_line(schema, d, p) for d, p in zip(documents, proposals, strict=True)]
        return documents, pd.DataFrame(lines)

    key = f"guide_table_{editor.generation()}_{language()}"
    documents, frame = editor.held(FRAME, key, begin)
    with st.container(key="guide_columns"):
        edited = editor.table_of(frame, SHOWN, _cells(max(map(len, frame["name"]))), key=key)
    sources, now, ticks, taken, typed = _sources(schema), [], {}, [], False
    for document, before, cells in zip(documents, frame.to_dict("records"), edited.to_dict("records"), strict=True):
        name = document["name"]
        edits = {f: cells[f] for f in EDITED if cells[f] != before[f]}
        row = changed(Row(document, {}), {**shown(document), **edits, "source": document["source"]})
        fits = not row.problem
        if not fits:
            st.error(literal(sentence(ValueError(row.problem))))
        now.append(row.document)
        ticks[name] = bool(cells["public"]) and fits
        typed |= bool(edits) and fits
        if (edits or (ticks[name] and not before["public"])) and fits and sources[name] == "data":
            taken.append(row.document)
        elif not cells["public"] and sources[name] == "public":
            taken.append(row.document | {"source": "data"})
    if taken:
        left_out = [d for d in now if sources[d["name"]] == "data"] if all(ticks.values()) else []
        _take(space, [*left_out, *taken], redraw=typed)
    return now, ticks


def _document(schema: Schema, p: Proposal) -> dict[str, Any]:
    """What a person decided about a column, before that what is proposed, as public knowledge."""
    decided = next((a.document() for a in schema.attributes if a.name == p.name and a.source != "data"), None)
    return decided or p.document or {"name": p.name, "kind": "ignored", "source": "public"}


def _line(schema: Schema, document: dict[str, Any], p: Proposal) -> dict[str, Any]:
    """The cells of a column. Only what is left out is ticked before a person ticks it: nothing of it is published."""
    cells = shown(document)
    return {
        "public": document["kind"] == "ignored" or _sources(schema)[p.name] != "data",
        "name": ("" if _plainly(p) else "⚠ ") + p.name.translate(UNSEEN),
        "kind": cells["kind"],
        "content": offers.values_words(document.get("values", ())) or cells["content"],
        "also": _also(document),
        "seen": _seen(p),
    }


def _cells(longest: int) -> dict[str, Any]:
    """Columns of the table, the first as wide as a header of that many characters, within its bounds."""
    column, public, kinds = st.column_config, t("guide.public"), [kind_words(k) for k in EDITABLE]
    name = min(max(118, 24 + 15 * longest // 2), 170)  # 7.5 a character; wider, a phone has no room beside it
    tick, kind = 36 + 7 * len(public), 24 + 7 * max(map(len, kinds))
    content = min(284, WIDE - tick - name - kind - ALSO - SEEN)
    return {
        "public": column.CheckboxColumn(public, help=t("guide.agree_help"), width=tick),
        # pinned alone: on a phone, two pinned columns leave no room for what a person decides
        "name": column.TextColumn(t("schema.column_name"), disabled=True, width=name, pinned=True),
        "kind": column.SelectboxColumn(
            t("guide.kind"), options=list(EDITABLE), required=True, format_func=kind_words, width=kind
        ),
        "content": column.TextColumn(t("guide.content"), help=t("schema.help_content"), width=content),
        "also": column.TextColumn(t("guide.also"), disabled=True, width=ALSO),
        "seen": column.TextColumn(t("guide.seen"), disabled=True, width=SEEN),
    }


def _also(d: dict[str, Any]) -> str:
    """What else a person agrees to with a tick: blank cells, other values, bins, how cells are written."""
    if d["kind"] == "ignored":
        return ""
    way, bins = _example(d), shown(d)["bins"]
    parts = (
        t("guide.also_blanks" if d.get("missing") else "guide.also_filled"),
        t("guide.also_other") if d.get("other") else "",
        t("guide.also_written", example=way) if way else "",
        t("guide.also_bins", bins=bins) if bins else "",
    )
    return " · ".join(filter(None, parts))


def _in_full(documents: list[dict[str, Any]]) -> None:
    """Lists that a cell cannot show, each once: whoever agrees to a list agrees to each of its values."""
    found: dict[str, list[str]] = {}
    for d in (d for d in documents if d["kind"] == "categorical"):
        words = _every(d["values"])
        if len(words) > FITS and not (ranged(d["values"]) or offers.values_words(d["values"])):
            found.setdefault(words, []).append(d["name"])
    for words, names in found.items():
        said = f"<b>{escaped(_listed(names))}</b> {escaped(words)}"
        st.html(f"<p class='dp-guide'><small>{said}</small></p>")


def _problems(space: Workspace, proposals: list[Proposal], shares: Mapping[str, float]) -> None:
    """What somebody should know before agreeing: one sentence for all columns with the same problem."""
    found: dict[str, list[str]] = {}
    for p in proposals:
        ends = asks_ends(p)
        share = shares.get(p.name, 0.0)
        linked = "_linked" if space.one_of_linked and p.why in NAMING else ""
        for said in (
            "" if p.why in PLAIN else t(f"guide.why_{p.why}{linked}"),
            t("guide.why_rare", count=number(p.rare)) if p.rare else "",
            t("guide.why_letters") if _broken(p) else "",
            t(f"guide.ask_{ends}") if ends else "",
            t("guide.crowded", share=percent(share, 0), epsilon=BINS_PRICE) if share > 0.5 else "",
        ):
            if said:
                found.setdefault(said, []).append(p.name)
    for said, names in found.items():
        st.html(f"<p class='dp-guide'>⚠ <b>{escaped(', '.join(names))}</b> {escaped(said)}</p>")


def more(space: Workspace) -> None:
    """What the table has no cell for, of one column: bins, how cells are written, public lists, a purchase."""
    schema, data = space.schema, space.dataset
    if schema is None or data is None or not any(a.source == "data" for a in schema.attributes):
        return
    by_name = {p.name: p for p in sorted(_proposals(space, schema, data.table), key=_plainly)}
    with st.container(border=True):
        name = st.selectbox(t("guide.more_about"), list(by_name), key=editor.field_key(space, "guide_more_about"))
        p, document, mark = by_name[name], _document(schema, by_name[name]), _mark(name)
        if document["kind"] in ("numeric", "datetime"):
            _form(space, document, mark)
        if offers.is_offered(p.document):
            listed = offers.panel(schema, name, mark)
            if listed is not None:
                _take(space, [listed])
        if not space.one_of_linked and st.button(t("guide.buy"), key=f"buy_{mark}"):
            _buy(space, p)


def _form(space: Workspace, document: dict[str, Any], mark: str) -> None:
    """Bins and how cells are written: saved as what the person knows."""
    cells = shown(document)
    with st.form(f"form_{mark}", border=False):
        first, second = st.columns(2, vertical_alignment="bottom")
        bins = first.text_input(t("guide.bins"), cells["bins"], key=f"bins_{mark}", help=t("schema.help_bins"))
        example = _example(document)
        way = second.text_input(value=example, key=f"way_{mark}", **field("guide.formats")).strip()
        if not st.form_submit_button(t("guide.save")):
            return
    made = changed(Row(document, {}), {**cells, "bins": bins, "source": "public"})
    after = dict(made.document)
    refused = made.problem or ("" if way == example else _write(after, way))
    if refused:
        st.error(literal(sentence(ValueError(refused))))
    else:
        _take(space, [after])


def _steps(now: int) -> None:
    """The three questions, and which of them this screen asks."""
    steps = (("<li aria-current=step>" if i == now else "<li>", i + 1, step) for i, step in enumerate(STEPS))
    said = "".join(f"{mark}{n}. {escaped(t(f'guide.{step}'))}</li>" for mark, n, step in steps)
    st.html(f"<ol class='dp-steps'>{said}</ol>")


def _plainly(p: Proposal) -> bool:
    """Whether a proposal is as usual, so that nothing needs to be said about it."""
    return p.document is not None and p.why in PLAIN and not p.rare and not _broken(p)


def _broken(p: Proposal) -> bool:
    """Whether values hold bytes that are no letters in the encoding that the file was read in."""
    return any(UNREADABLE in str(v) for v in (p.document or {}).get("values", ()))


def _ask_of_series(space: Workspace, schema: Schema, table: Any) -> None:
    """Who is one individual, where rows follow each other in equal steps of time."""
    from dpsyn_core.schema import series

    found = kept(space, ("series", space.serial), lambda: series(schema, table))
    if found is not None and schema.unit.identifier is None:
        of = {"date": found.date, "rows": number(found.rows), "keys": number(found.keys)}
        words = t("guide.series_of", column=found.key, **of) if found.key else t("guide.series", **of)
        note(words, "warning")


def _proposals(space: Workspace, schema: Schema, table: Any) -> list[Proposal]:
    """Made once for a draft, and kept while columns are decided one by one; none for the column that names people."""
    from dpsyn_core.schema import propose

    known: dict[str, Proposal] = kept(space, ("proposals", space.serial), dict)
    if any(a.source in READ and a.name not in known for a in schema.attributes):
        known.update({p.name: p for p in propose(schema, table) if p.name not in known})
    return [known[a.name] for a in schema.attributes if a.name in known and a.name != schema.unit.identifier]


def _crowded(space: Workspace, schema: Schema, table: Any) -> dict[str, float]:
    """Share of the records in the fullest bin of a number, by column; for the owner."""
    from dpsyn_core.schema import agreed, crowded

    proposals = _proposals(space, schema, table)
    return kept(space, ("crowded", space.serial), lambda: crowded(agreed(schema, proposals), table))


def _example(document: Mapping[str, Any]) -> str:
    """How the cells of a column are written, by an example; empty where nothing is declared."""
    from dpsyn_core.schema import date_formats as written_dates

    return written_dates.shown(document) if document["kind"] == "datetime" else str(document.get("written") or "")


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


def _take(space: Workspace, documents: list[dict[str, Any]], *, redraw: bool = True) -> None:
    """Makes documents of columns the schema's; with the last one, rules that are public by their nature too.

    Says what is wrong where they do not fit. redraw: the table begins anew; else it keeps its place.
    """
    if space.schema is None:
        return
    try:
        made = with_columns(space.schema, {d["name"]: d for d in documents})
    except DPSynError as error:
        st.error(literal(sentence(error)))
        return
    if not (space.one_of_linked or any(a.source == "data" for a in made.attributes)):
        made = rules.by_nature(space, made)
    space.memo[DONE] = True
    editor.change(space, made, redraws=redraw)


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
        editor.take(space, with_columns(space.schema, {p.name: stand_in}))
        editor.sync(space)
    st.rerun()


def _wanted(space: Workspace) -> list[str]:
    undecided = {a.name for a in space.schema.attributes if a.source == "data"} if space.schema else set()
    return [n for n in space.memo.get("guide_buys", []) if n in undecided]


def _done(space: Workspace) -> None:
    """Every column is decided: the shortest way to the synthetic table."""
    from ui.synthesize import methods
    from ui.synthesize.starting import problem, start

    if space.schema is not None and space.schema.private:
        st.success(t("guide.done"))
    why = problem(space)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        pressed = st.button(limited(t("guide.run"), space.schema), key="guide_run", type="primary", disabled=bool(why))
        system = methods.spelt(methods.chosen(space))
        spends = t("guide.run_note", epsilon=amount(space.choices.epsilon), method=system)
        note(sentence(ValueError(why)) if why else spends, "alarm" if why else "note")
    if pressed:
        with refusals():
            st.session_state[QUICK] = start(space).id
            space.memo.pop(DONE, None)  # from now on Schema shows the columns
            go_to("data")


def _plain(value: float, written: str) -> str:
    """A number of a column's range without an empty fraction; five digits have a mark between them, years have none."""
    if ":" in written:
        return str(clocks.written(np.array([value]), written)[0].as_py())
    marks = "," if abs(value) >= LONG else ""
    return local(int(value), marks) if float(value).is_integer() else local(value, f"{marks}.10g")


def _seen(p: Proposal) -> str:
    seen: Mapping[str, Any] = p.seen
    if seen["what"] == "range":
        written = str((p.document or {}).get("written") or "")
        as_written = p.why == "written"  # a date of digits has no marks between thousands
        ends = (seen["low"], seen["high"])
        low, high = (moment(str(v)) if as_written or isinstance(v, str) else _plain(v, written) for v in ends)
        return t("guide.seen_range", low=low, high=high)
    if seen["what"] == "values":
        proposed, values = ([str(v) for v in some] for some in ((p.document or {}).get("values", ()), seen["values"]))
        return t("guide.seen_same") if len(proposed) > 1 and proposed == values else _listed(seen["values"])
    return t("guide.seen_distinct", count=number(seen["count"]), records=number(seen["records"]))


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
