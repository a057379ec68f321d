"""Schema rows: how an attribute stands in the editor's table, and how an edited row becomes an attribute again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.schema import RHYTHMS, Schema
from ui.shared.text import language, number, t

FOLLOWS = "follows another"
KINDS = ("category", "ordered category", "whole number", "number", "date", FOLLOWS, "identifier", "left out")
SHORT = {"ignored": "left out", "datetime": "date", "derived": FOLLOWS}  # kinds of a document that are said otherwise
SOURCES = ("public", "bought", "bought-unconfirmed", "data")
READ_FROM_DATA = ("data", "bought-unconfirmed")  # sources that give no guarantee before they are confirmed
FIELDS = ("kind", "content", "bins", "missing", "other", "group", "source")
NAMED = ("name", "label", "description")  # what stays of a column that becomes something else
LISTED = 1000  # whole numbers that a list may have
SHOWN_VALUES = 400  # characters of a value list shown in the table; longer lists keep their values when unchanged
RANGE = re.compile(
    r"^\s*(?P<low>\S+)\s+(?:to|until|bis|-|–)\s+(?P<high>\S+?)(?:\s+(?:by|Schritt)\s+(?P<step>\S+?))?"
    rf"(?:,?\s+(?:(?P<scale>log|linear)|(?P<rhythm>{'|'.join(RHYTHMS)})))?\s*$"
)


@dataclass
class Row:
    """One attribute in the editor: the attribute's document, edits that do not fit yet, and why."""

    document: dict[str, Any]
    pending: dict[str, Any]
    problem: str = ""

    @property
    def name(self) -> str:
        """The column's header."""
        return str(self.document["name"])

    def cells(self) -> dict[str, Any]:
        """What the table shows: the document's words, covered by edits that do not fit yet."""
        return {"name": self.name, **shown(self.document), **self.pending}


def shown(document: dict[str, Any]) -> dict[str, Any]:
    """The words of an attribute in the table."""
    kind = document["kind"]
    ticks = {field: bool(document.get(field, False)) for field in ("missing", "other")}
    words = {"kind": SHORT.get(kind, kind), "content": "", "bins": "", **ticks, "group": document.get("group") or ""}
    words["source"] = document["source"]
    if kind == "derived":
        words["content"] = t("schema.follows", column=document["from"])
    if kind == "categorical":
        words["kind"] = "ordered category" if document.get("ordered") else "category"
        words["content"] = _values_text(document["values"])
    elif kind in ("numeric", "datetime"):
        words["content"] = range_text(document)
        words["bins"] = _bins_text(document.get("bins"))
        if kind == "numeric":
            words["kind"] = "whole number" if document["dtype"] == "integer" else "number"
    return words


def range_text(document: dict[str, Any], **others: str) -> str:
    """The range of a number or a date in the visitor's language; others: in place of the document's own."""
    said = {**document, **others}
    text = f"{_end(said['min'])} {t('schema.range_to')} {_end(said['max'])}"
    text += f" {t('schema.range_by')} {_end(said['step'])}" if said.get("step") else ""
    text += "".join(f", {said[f]}" for f in ("scale", "rhythm") if said.get(f))
    special = (f"{v:g}" if v != int(v) else str(v) for v in said.get("special_values") or ())
    return "; ".join(filter(None, (text, ", ".join(special))))


def kind_words(kind: str | float | bool) -> str:
    """A kind in the visitor's language."""
    return t(f"guide.kind_{str(kind).replace(' ', '_')}") if kind in KINDS else str(kind)


def _end(value: float | str) -> str:
    """An end of a range without an empty fraction, a number with the decimal mark of the visitor's language."""
    if not isinstance(value, float):
        return str(value)
    return str(value).removesuffix(".0").replace(".", "," if language() == "de" else ".")


def ranged(values: Sequence[Any]) -> bool:
    """Whether a list is of whole numbers that follow each other, so that its range says all of it."""
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in values)
    return whole and len(values) > 3 and list(values) == list(range(values[0], values[0] + len(values)))


def _values_text(values: list[Any]) -> str:
    if ranged(values):
        return f"{values[0]} {t('schema.range_to')} {values[-1]}"
    text = ", ".join(str(v) for v in values)
    if any("," in str(v) or str(v) != str(v).strip() or str(v) == "" for v in values):
        text = json.dumps(values, ensure_ascii=False)
    if len(text) > SHOWN_VALUES:
        return t("schema.many_values", count=number(len(values)), start=text[:60])
    return text


def _bins_text(bins: dict[str, Any] | None) -> str:
    """As the table shows them; empty where range and step decide."""
    if bins is None:
        return ""
    if "count" in bins:
        return str(bins["count"])
    return str(bins["every"]) if "every" in bins else ", ".join(f"{e:g}" for e in bins["edges"])


def changed(row: Row, cells: dict[str, Any]) -> Row:
    """The row after an edit; cells that do not make an attribute stay in the table with their reason."""
    words = shown(row.document)
    wanted = {f: cells[f] for f in FIELDS if not _blank(cells.get(f)) or f in ("content", "bins", "group")}
    wanted = {f: ("" if _blank(v) else v) for f, v in wanted.items()}
    edits = {f: v for f, v in wanted.items() if v != words[f]}
    if not edits:
        return Row(row.document, {})
    try:
        return Row(_document(row.document, {**words, **edits}, edits), {})
    except DPSynError as error:
        return Row(row.document, edits, str(error))


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _document(old: dict[str, Any], words: dict[str, Any], edits: dict[str, Any]) -> dict[str, Any]:
    same = "kind" not in edits or {words["kind"], shown(old)["kind"]} <= {"category", "ordered category"}
    out: dict[str, Any] = {k: v for k, v in old.items() if same or k in NAMED} | {"source": words["source"]}
    if edits.get("source", "").startswith("bought") and not old["source"].startswith("bought"):
        msg = f"column '{old['name']}' was not bought; buy it below the table, or choose public if it is known anyway"
        raise SchemaError(msg)
    kind = words["kind"]
    if kind == FOLLOWS or (old["kind"] == "derived" and kind not in ("identifier", "left out")):
        return _follower(old, kind, edits)
    if kind in ("identifier", "left out"):
        if "kind" in edits and "source" not in edits:
            out["source"] = "public"  # nothing is left of what was read: a person chose the kind
        return _checked({**out, "kind": "ignored" if kind == "left out" else "identifier"})
    if kind not in KINDS:
        msg = f"column '{old['name']}' is a {kind}, which has no fields in this table; edit the schema file"
        raise SchemaError(msg)
    _refuse_idle(kind, old["name"], edits)
    out["missing"] = bool(words["missing"])
    out["group"] = str(words["group"]) or None
    if kind in ("category", "ordered category"):
        unchanged = old["kind"] == "categorical" and "content" not in edits
        values = old["values"] if unchanged else _values(str(words["content"]), old["name"])
        return _checked({**out, "kind": "categorical", "values": values, "ordered": kind == "ordered category",
                         "other": bool(words["other"])})  # fmt: skip
    text, _, codes = str(words["content"]).partition(";")
    given = _range(text, old["name"])
    low, high = given["low"], given["high"]
    as_is = same and "bins" not in edits  # the text in the table may be shorter than the numbers
    bins = old.get("bins") if as_is else _bins(str(words["bins"]), old["name"], dates=kind == "date")
    out.pop("bins", None)
    out |= {} if bins is None else {"bins": bins}
    date = kind == "date"
    idle = (given["step"] or given["scale"]) if date else given["rhythm"]
    if idle:
        msg = f"column '{old['name']}' is a {kind}, for which '{idle}' says nothing; leave it out"
        raise SchemaError(msg)
    if date:
        out.pop("rhythm", None)
        out |= {"rhythm": given["rhythm"]} if given["rhythm"] else {}
        return _checked({**out, "kind": "datetime", "min": low, "max": high})
    whole = kind == "whole number"
    first, last = _numeric(low, old["name"], whole), _numeric(high, old["name"], whole)
    special = [_numeric(c.strip(), old["name"], whole=True) for c in codes.split(",") if c.strip()]
    if special or "special_values" in out:
        out["special_values"] = special
    if "kind" in edits and old.get("written"):  # whole numbers and others are written alike
        out["written"] = old["written"]
    for field, value in (("step", given["step"]), ("scale", given["scale"])):
        out.pop(field, None)
        if value:
            out[field] = value if field == "scale" else _numeric(value, old["name"], whole=True)
    if "step" in out:
        out.pop("decimals", None)
    return _checked({**out, "kind": "numeric", "dtype": "integer" if whole else "float", "min": first, "max": last})


def _follower(old: dict[str, Any], kind: str, edits: dict[str, Any]) -> dict[str, Any]:
    """A column that follows from another is changed where its map is; here only where it is known from."""
    if old["kind"] == "derived" and set(edits) <= {"source"}:
        return {**old, "source": edits.get("source", old["source"])}
    if kind == FOLLOWS:
        msg = f"column '{old['name']}': say which column it follows from, and how, under 'More about columns'"
    else:
        msg = f"column '{old['name']}' follows from '{old['from']}'; remove the rule under 'More about columns' first"
    raise SchemaError(msg)


def _refuse_idle(kind: str, name: str, edits: dict[str, Any]) -> None:
    """An edit that would do nothing is explained instead of being dropped."""
    category = kind in ("category", "ordered category")
    if category and edits.get("bins"):
        msg = f"column '{name}' is a {kind} and has no bins; clear them, or make it a whole number, a number or a date"
        raise SchemaError(msg)
    if not category and edits.get("other"):
        msg = f"column '{name}' is a {kind}: values outside its range are clamped; only categories can have others"
        raise SchemaError(msg)


def _checked(document: dict[str, Any]) -> dict[str, Any]:
    """Validates one attribute by the schema document itself. Raises SchemaError."""
    spare = {"kind": "categorical", "name": "\x00", "values": [0]}  # a document needs one coded attribute
    try:
        Schema.of({"version": 1, "name": "row", "attributes": [document, spare]})
    except SchemaError as error:
        raise SchemaError(str(error).replace("attributes[0].", "").replace("attributes[0] ", "")) from error
    return document


def _values(text: str, name: str) -> list[Any]:
    """Values as typed: separated by commas, or a JSON list when a value itself has a comma."""
    if text.strip().startswith("["):
        try:
            got = json.loads(text)
        except ValueError as error:
            msg = f"column '{name}': the list of values starts with [ but is not JSON; write a, b, c instead"
            raise SchemaError(msg) from error
        return list(got)
    ends = RANGE.match(text)
    if ends and re.fullmatch(r"-?\d{1,15} -?\d{1,15}", f"{ends['low']} {ends['high']}"):
        low, high = int(ends["low"]), int(ends["high"])
        if not 0 <= high - low < LISTED:
            msg = f"column '{name}' would have the values {low} to {high}; name at most {LISTED}, the smaller end first"
            raise SchemaError(msg)
        return [*range(low, high + 1)]
    parts = [p.strip() for p in text.split(",") if p.strip()]
    if not parts:
        msg = f"column '{name}' has no values; write them with commas, for example: north, south"
        raise SchemaError(msg)
    whole = all(re.fullmatch(r"-?(0|[1-9]\d{0,14})", p) for p in parts)
    return [int(p) for p in parts] if whole else list(parts)


def _range(text: str, name: str) -> dict[str, str]:
    """Low and high, and step, scale and rhythm, empty where they are not written."""
    found = RANGE.match(text)
    if not found:
        msg = f"column '{name}' needs a public range; write it as: 0 to 99, or 0 to 5 by 0.01"
        raise SchemaError(msg)
    return {field: value or "" for field, value in found.groupdict().items()}


def _numeric(text: str, name: str, whole: bool) -> int | float:
    thousands = language() != "de" and re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", text)
    try:
        value = float(text.replace(",", "" if thousands else "."))
    except ValueError as error:
        msg = f"column '{name}': '{text[:40]}' is not a number; write the range as: 0 to 99"
        raise SchemaError(msg) from error
    return int(value) if whole and value.is_integer() else value


def _bins(text: str, name: str, *, dates: bool) -> dict[str, Any] | None:
    """Bins as written; None where nothing is, so that range and step decide."""
    if not text.strip():
        return None
    if dates and text.strip() in ("day", "month", "quarter", "year"):
        return {"every": text.strip()}
    parts = [p.strip() for p in text.split(",") if p.strip()]
    try:
        if len(parts) == 1:
            return {"count": int(parts[0])}
        if not dates and len(parts) > 1:
            return {"edges": [_numeric(p, name, whole=p.lstrip("-").isdigit()) for p in parts]}
    except ValueError:
        parts = []
    allowed = t("schema.bins_dates") if dates else t("schema.bins_numbers")
    msg = f"column '{name}': bins are '{text[:40]}'; {allowed}"
    raise SchemaError(msg)


def build(schema: Schema, rows: list[Row]) -> Schema:
    """A schema from rows. Raises SchemaError."""
    document = {**schema.document(), "attributes": [r.document for r in rows]}
    key = schema.unit.identifier
    known = {a.name for a in schema.attributes if a.names_individuals}  # a draft may call a column so by its cells
    names = [r.name for r in rows if r.document["kind"] == "identifier"]
    if key not in names:
        named = next((n for n in names if n not in known), None)
        if named != key:
            document["unit"] = {**document["unit"], "identifier": named, "source": typed_source(schema, named)}
    return Schema.of(document)


def with_unit(schema: Schema, **changes: Any) -> Schema:
    """The schema with another unit of privacy."""
    unit = schema.unit.model_copy(update=changes)
    return schema if unit == schema.unit else schema.model_copy(update={"unit": unit})


def typed_source(schema: Schema, identifier: str | None, *, looked: bool = False) -> str:
    """Where a unit of privacy comes from after a person changed it: public, unless a look at the table went before.

    Args:
        schema: before the change.
        identifier: after it. One that was read from the data stays so where only the limit was typed.
        looked: the person has seen how the values of the column repeat.
    """
    kept = identifier == schema.unit.identifier and schema.unit_from_data
    return "data" if looked or kept else "public"


def identified(schema: Schema, column: str | None, max_records: int, source: str = "public") -> Schema:
    """The schema with individuals named by a column (None: each row is one), which then is not synthesized.

    source: whether that is public, or was read from the data.
    """
    named = {} if column is None else {column: turned(schema, column, {"kind": "identifier", "source": "public"})}
    unit = {"identifier": column, "max_records": max_records if column else 1, "source": source}
    return with_columns(schema, named, **unit)


def turned(schema: Schema, column: str, into: dict[str, Any]) -> dict[str, Any]:
    """The document of a column as something else, of which its name and its description stay."""
    return {k: v for k, v in schema[column].document().items() if k in NAMED} | into


def with_columns(schema: Schema, changed: Mapping[str, dict[str, Any]], **unit: Any) -> Schema:
    """The schema with other documents for these columns, and with what is said of its unit. Raises SchemaError."""
    document = schema.document()
    document["attributes"] = [changed.get(a["name"], a) for a in document["attributes"]]
    return Schema.of({**document, "unit": {**document["unit"], **unit}} if unit else document)
