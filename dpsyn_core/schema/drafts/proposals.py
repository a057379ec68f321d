"""Proposes what could be public about columns that a draft read from the data, for a person to agree with or change.

A draft holds the exact smallest and largest values, which are somebody's. A proposal rounds ranges outward, knows usual
lists of codes, and leaves values that few records have to a cell for others. It still depends on the data: it becomes
public knowledge when a person says that they know it without them.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from dpsyn_core.schema import code_lists
from dpsyn_core.schema import date_formats as written_dates
from dpsyn_core.schema.document import READ, Schema
from dpsyn_core.schema.drafts import ranges
from dpsyn_core.schema.drafts.categories import listed
from dpsyn_core.schema.drafts.column import MIXED, OWN, PERSONS, UNSHARED, mixed
from dpsyn_core.schema.drafts.draft import LEFT, refuse_empty
from dpsyn_core.schema.drafts.proposal import Proposal, not_, present
from dpsyn_core.schema.drafts.usual_values import SCALES
from dpsyn_core.schema.individuals import named_like_one
from dpsyn_core.schema.languages import other_word
from dpsyn_core.tables import amounts, instants
from dpsyn_core.tables import canonical_text as canonical


def propose(schema: Schema, table: Any) -> list[Proposal]:
    """A proposal for every column of a draft that nobody has confirmed. Reads the data: private.

    Args:
        schema: with columns whose source is the data.
        table: pyarrow; the one that was drafted.
    """
    have = {n: i for i, n in enumerate(table.column_names)}
    word = other_word([*have, *(str(v) for a in schema.coded if a.listed for v in a.single_values)])
    proposals = [
        _one(a.document(), table.column(have[a.name]), table.num_rows)
        for a in schema.attributes
        if a.source in READ and a.name in have
    ]
    for document in (p.document for p in proposals if word and p.document and p.document.get("other")):
        document["other_word"] = word
    return proposals


def _one(drafted: dict[str, Any], column: Any, records: int) -> Proposal:
    base = {k: v for k, v in drafted.items() if k != "source"} | {"source": "public"}
    of_kind = OF_KIND.get(drafted["kind"])
    return _left_out(drafted, column, records) if of_kind is None else of_kind(drafted, base, column)


def _number(drafted: dict[str, Any], base: dict[str, Any], column: Any) -> Proposal:
    """The proposal for a number: a wider range; dates or a list where its numbers stand for these."""
    name, whole = drafted["name"], drafted["dtype"] == "integer"
    seen = {"what": "range", "low": drafted["min"], "high": drafted["max"]}
    if whole and named_like_one(name):
        return Proposal(name=name, seen=seen, why="person", document=None)
    if whole and (dates := ranges.numbers_of_days(drafted, column)) is not None:
        return Proposal(name=name, seen=seen, why="written", document=dates)
    if whole and (public := _public_list(name, column)) is not None:
        return Proposal(name=name, seen=seen, why="list", document=public)
    if (codes := ranges.numbers_of_things(drafted, column)) is not None:
        entry = {k: v for k, v in base.items() if k in ("name", "source", "label", "description", "missing")}
        values = {"kind": "categorical", "values": codes, "ordered": False}
        return listed(drafted | values, entry | values, column)
    if ranges.numbers_of_persons(drafted, column):
        return Proposal(name=name, seen=seen, why="codes", document=None)
    marks, clock = ranges.marks(drafted), ranges.clock(drafted)
    low, high = marks or clock or ranges.outward(drafted["min"], drafted["max"], name, whole=whole)
    low, high = ranges.on_grid(low, high, drafted.get("step"))
    base.pop("bins", None)
    document = base | {"min": low, "max": high} | ranges.wider_bins(drafted)
    why = "scale" if marks or {(drafted["min"], drafted["max"]), (low, high)} <= SCALES else "rounded"
    return Proposal(name=name, seen=seen, why="clock" if clock else why, document=document)


def _date(drafted: dict[str, Any], base: dict[str, Any], column: Any) -> Proposal:
    """The proposal for dates: whole years, months or days around them."""
    formats = drafted.get("formats")
    low, high = (
        ranges.seen_dates(column, tuple(formats))
        if formats and drafted["max"][-1] != "Z"
        else (drafted["min"], drafted["max"])
    )
    timed = len(low) == len("2024-01-31T12:00:00")  # of a format with a time the draft has whole years
    first, last, ends = ranges.calendar(*((low, high) if timed else (drafted["min"], drafted["max"])))
    return Proposal(
        name=drafted["name"],
        seen={"what": "range", "low": low, "high": high},
        why="utc" if high[-1] == "Z" and _offsets(column) else _why_written(formats, high, column) if formats else ends,
        document=base | {"min": first, "max": last},
    )


def _offsets(column: Any) -> bool:
    """Whether times are of another zone than UTC, in which all come back."""
    import pyarrow.compute as pc

    texts = canonical.to_text(canonical.uniques(column)[0])
    zone = getattr(column.type, "tz", None)
    return zone not in (None, "UTC") or bool(pc.any(pc.match_substring_regex(texts, instants.OFFSET)).as_py())


def _why_written(formats: list[str], last: str, column: Any) -> str:
    """two_digits: two digits stand for years, and some would be in the future, as those of birth before 1969 are.

    day_first: months before days would read each cell, too.
    """
    texts = canonical.to_text(canonical.uniques(column)[0])
    if written_dates.month_first(formats, present(texts.filter(not_(canonical.blanks(texts))))):
        return "day_first"
    if any("%y" in way for way in formats) and int(last[:4]) > datetime.datetime.now(tz=datetime.UTC).year:
        return "two_digits"
    return "two_ways" if len(formats) > 1 else "written"


OF_KIND: dict[str, Callable[[dict[str, Any], dict[str, Any], Any], Proposal]] = {
    "numeric": _number,
    "datetime": _date,
    "categorical": listed,
}


def _left_out(drafted: dict[str, Any], column: Any, records: int) -> Proposal:
    """Why a column was left out, and how to bring it in where it is a date that is written in another way."""
    name = drafted["name"]
    entries, _ = canonical.uniques(column)
    texts = canonical.to_text(entries)
    filled = texts.filter(not_(canonical.blanks(texts)))
    seen = {"what": "distinct", "count": len(filled), "records": records}
    if len(filled) == 0:
        return Proposal(name=name, seen=seen, why="blank", document=None)
    dates = written_dates.dates(name, present(filled))
    if dates is not None:
        return Proposal(name=name, seen=seen, why="written", document=dates)
    if drafted.get("description") == PERSONS:
        return Proposal(name=name, seen=seen, why="names", document=None)
    if (public := _public_list(name, column)) is not None:
        return Proposal(name=name, seen=seen, why="list", document=public)
    codes = _codes(filled) and not amounts.shares_beside_percent(filled)
    why = "unique" if len(filled) >= records else "codes" if codes else "mixed" if mixed(filled) else "many"
    return Proposal(name=name, seen=seen, why=why, document=None)


def _public_list(name: str, column: Any) -> dict[str, Any] | None:
    """The entry of a column whose values are of a public list, or begin with codes of one."""
    texts = canonical.to_text(canonical.uniques(column)[0])
    known = present(texts.filter(not_(canonical.blanks(texts)))).to_pylist()
    public = code_lists.proposed(name, known)
    if public is None:
        return None
    cells = {"missing": len(known) < len(texts) or column.null_count > 0, "other": public.matched(known) < 1}
    return public.attribute(name) | cells


def _codes(texts: Any) -> bool:
    """Whether texts look like postcodes or other short codes: of one length, with digits."""
    import pyarrow.compute as pc

    sizes = pc.unique(pc.utf8_length(texts))
    digits = pc.all(pc.match_substring_regex(texts, r"\d")).as_py()
    return bool(digits) and len(sizes) <= 2 and pc.max(sizes).as_py() <= 8


def agreed(schema: Schema, proposals: list[Proposal]) -> Schema:
    """The schema with proposals taken as what a person knows; columns without one are left out, as public knowledge."""
    documents = {p.name: p.document or {"name": p.name, "kind": "ignored", "source": "public"} for p in proposals}
    whole = schema.document()
    whole["attributes"] = [documents.get(a["name"], a) for a in whole["attributes"]]
    return Schema.of(whole)


def rounded(schema: Schema, table: Any, *, besides: str | None = None) -> Schema:
    """The draft with what is proposed in place of exact ends and rare values, which are single persons'.

    It is read from the data as before. A column of which nothing is proposed, such as one of persons or of values that
    hardly two records share, is left out.

    Args:
        schema: a draft.
        table: pyarrow; the one that was drafted.
        besides: a column that stays as it was drafted, such as the waves of a panel, which everybody in it shares.

    Raises:
        SchemaError: no column is left.
    """
    whole = schema.document() | {"attributes": rounded_entries(schema, table, besides=besides)}
    refuse_empty(whole["attributes"])
    return Schema.of(whole)


def rounded_entries(schema: Schema, table: Any, *, besides: str | None = None) -> list[dict[str, Any]]:
    """The entries of `rounded`, which may keep no column."""
    proposed = (p for p in propose(schema, table) if p.name != besides)
    documents = {p.name: (p.document or _without_proposal(p)) | {"source": "data"} for p in proposed}
    return [
        a if a["kind"] in LEFT and documents.get(a["name"], a)["kind"] in LEFT else documents.get(a["name"], a)
        for a in schema.document()["attributes"]
    ]


def _without_proposal(p: Proposal) -> dict[str, Any]:
    why = {"person": PERSONS, "unique": OWN, "mixed": MIXED}.get(p.why, UNSHARED)
    return {"name": p.name, "kind": "ignored", "description": why}
