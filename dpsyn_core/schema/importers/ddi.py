"""DDI-Codebook 2.5: the XML in which data archives describe a table, read and written.

Only what is declared is read: value labels, missing codes, valid ranges and the format of each variable. Statistics of
the records, which archives often add (`sumStat`, `catStat`), are never read.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, SubElement, TreeBuilder, indent, tostring
from xml.parsers import expat

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.importers.declared import ENDS, UNCONFIRMED, Declaration, listed_values, one_of
from dpsyn_core.tables import DeclaredColumn, Kind, Value, canonical

SPACE = "ddi:codebook:2_5"
AS_IT_IS = "http://www.w3.org/XML/1998/namespace}space"  # the attribute xml:space, as the parser names it
DEEPEST = 64  # elements inside each other; a codebook has about ten
MOST = 5_000_000  # elements
UNHELD = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # characters that XML has no way to write
NUMBER = re.compile(r"^-?(0|[1-9]\d{0,17})(\.\d+)?$")
LEVEL = {"nominal": True, "ordinal": True, "interval": False, "ratio": False, "continuous": False}
# what our own files say in elements for free text, since the format has no other place for it
NO_ANSWER = ("Sysmiss", "SYSMIS", "sysmiss", ".", "*")  # codes by which archives name the blank cell of a number
IDENTIFIER, LEFT_OUT, NO_BLANK = "identifier", "left out", "no blank cells"
CLOCKS: dict[str, Kind] = {"date": "date", "dateTime": "datetime"}


def tree_of(raw: bytes, what: str) -> Any:
    """The root of an XML document without a document type, so that nothing in it is expanded or fetched.

    Raises:
        SchemaError: it is no XML, declares a document type or entities, or is too deep or too large.
    """
    builder, parser = TreeBuilder(), expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    depth = count = 0

    def refuse(*_: object) -> None:
        msg = f"'{what}' declares a document type or entities, which are not read; remove the DOCTYPE"
        raise SchemaError(msg)

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > DEEPEST or count > MOST:
            msg = f"'{what}' has more than {DEEPEST} elements inside each other or {MOST:,} in all; it is no codebook"
            raise SchemaError(msg)
        builder.start(name.rpartition("}")[2], attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(name.rpartition("}")[2])

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(raw, True)
        return builder.close()
    except (expat.ExpatError, AssertionError, LookupError, ValueError) as error:
        if isinstance(error, SchemaError):
            raise
        line = f" (line {error.lineno})" if isinstance(error, expat.ExpatError) else ""
        msg = f"'{what}' is no XML that can be read{line}; export it again"
        raise SchemaError(msg) from error


def read(raw: bytes, *, name: str, what: str, table: str | None = None) -> Declaration:
    """A codebook; table: the file that is meant, of several. Raises SchemaError."""
    root = tree_of(raw, what)
    variables = list(root.iter("var"))
    if root.tag not in ("codeBook", "codebook") or not variables:
        msg = f"'{what}' is no DDI-Codebook: it needs a codeBook with var elements (DDI-Lifecycle is not read)"
        raise SchemaError(msg)
    variables, table = _of_file(root, variables, table, what)
    title = _text(root, "stdyDscr/citation/titlStmt/titl")
    columns = tuple(_column(v, what) for v in variables)
    note = _text(root, "docDscr/notes")
    named = [c.name for c in columns if c.kind == "identifier"]
    return Declaration(
        name=(table or title or name)[:200],
        columns=columns,
        identifier=named[0] if len(named) == 1 else None,
        confirmed=note != UNCONFIRMED,
    )


def _of_file(root: Any, variables: list[Any], table: str | None, what: str) -> tuple[list[Any], str | None]:
    """The variables of one of the data files that a codebook describes, and what it is called; or all of one file."""
    files = {f.get("ID", ""): _text(f, "fileTxt/fileName").rpartition(".")[0] for f in root.iter("fileDscr")}
    places = [
        v.get("files") or next((p.get("fileid") for p in v.findall("location") if p.get("fileid")), "")
        for v in variables
    ]
    named = {p: files.get(p) or p for p in dict.fromkeys(places)}
    if len(named) < 2 and table in (None, *named.values(), *named):
        return variables, None if table is None else next(iter(named.values()))
    meant = {p: word for p, word in named.items() if table in (p, word)}
    if not meant:
        raise SchemaError(one_of(what, list(named.values())))
    return [v for v, p in zip(variables, places, strict=True) if p in meant], next(iter(meant.values()))


def _column(var: Any, what: str) -> DeclaredColumn:
    name = var.get("name") or ""
    if not name.strip():
        msg = f"'{what}' has a variable without a name; give each var a name"
        raise SchemaError(msg)
    form = var.find("varFormat")
    kind: Kind = "text" if form is not None and form.get("type") == "character" else ""
    numeric = form is not None and form.get("type") == "numeric"
    if form is not None:
        kind = CLOCKS.get(form.get("category", "").replace("time", "dateTime"), kind)
        kind = CLOCKS.get(form.get("formatname", ""), kind)
    words: dict[str, str] = {}
    values: list[Value] = []
    declared: list[Value] = []  # values and missing codes, in their order
    items = [i.get("VALUE") or "" for i in var.findall("invalrng/item")]
    missing = [_value(_plain(i, numeric=numeric), kind) for i in items if i and not (numeric and i in NO_ANSWER)]
    for category in var.findall("catgry"):
        code, node = _text(category, "catValu"), category.find("catValu")
        if not code and (node is None or node.get(AS_IT_IS) is None):
            continue
        if numeric and code in NO_ANSWER:
            continue
        value = _value(_plain(code, numeric=numeric), kind)
        word = _text(category, "labl")
        if word and words.setdefault(canonical(value), word) != word:
            msg = f"'{what}' has two labels for the code '{code[:80]}' of '{name[:80]}'; remove one"
            raise SchemaError(msg)
        (missing if category.get("missing") == "Y" else values).append(value)
        declared.append(value)
    span = var.find("valrng/range")
    low, high = (None, None) if span is None else (_end(span.get(k), kind) for k in ("min", "max"))
    if kind == "" and span is not None:
        kind = "integer" if var.get("dcml") == "0" else "float" if var.get("intrvl") == "contin" else ""
    if set(words) | set(values) == {"true", "false"}:
        kind, values = "boolean", [v == "true" for v in values]
        declared = [*values]
    counted = False if var.get("intrvl") == "contin" and span is None else None  # words of a few codes of a number
    listed = LEVEL.get(var.get("nature", ""), counted)
    every = [*declared, *missing] if values and listed is not False else []
    full = bool(every) and (listed is True or _complete(values, low, high))
    concept = _text(var, "concept")
    return DeclaredColumn(
        name=name,
        kind="identifier" if concept == IDENTIFIER else "ignored" if concept == LEFT_OUT else kind,
        label=_text(var, "labl"),
        description=_text(var, "txt"),
        values=tuple(dict.fromkeys(every)) if full else (),
        words=words,
        codes_missing=tuple(dict.fromkeys(missing)),
        listed=listed,
        ordered=var.get("nature") == "ordinal",
        blank=False if _text(var, "codInstr") == NO_BLANK else None,
        low=low,
        high=high,
        counted=span is not None and var.find("sumStat") is not None,
        decimals=_decimals(var.get("dcml") or "", what, name) if kind == "float" else None,
    )


def _decimals(text: str, what: str, name: str) -> int | None:
    """How many decimals a number has; none where the document leaves it open."""
    if not text:
        return None
    if not re.match(r"^[0-9]{1,2}$", text):
        msg = f"'{what}' has a dcml of '{name}' that is no whole number from 0 to 99; correct or remove it"
        raise SchemaError(msg)
    return int(text)


def _complete(values: list[Value], low: object, high: object) -> bool:
    """Whether categories are all that a variable holds, and not ends of a scale or special codes of a number."""
    if len(values) < 2 or low is None:
        return len(values) > 1
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return False
    inside = {v for v in values if isinstance(v, int | float) and low <= v <= high}
    return len(inside) > ENDS or len(inside) == high - low + 1


def _text(node: Any, path: str) -> str:
    child = node.find(path)
    if child is None:
        return ""
    text = "".join(child.itertext())
    return text if child.get(AS_IT_IS) == "preserve" else " ".join(text.split())


def _say(parent: Any, tag: str, text: str) -> None:
    """An element with a text; white space that would be read as the layout of the document is declared to count."""
    SubElement(parent, tag, {} if text and text == " ".join(text.split()) else {"xml:space": "preserve"}).text = text


def _plain(code: str, *, numeric: bool) -> str:
    """A code as the number is written: in a column of numbers 01 is 1, as in the table itself."""
    return re.sub(r"^(-?)0+(?=\d)", r"\1", code) if numeric else code


def _value(code: str, kind: Kind) -> Value:
    """A code as the value that it is; text where its column is of characters."""
    if kind == "text" or not NUMBER.match(code):
        return code
    return float(code) if "." in code else int(code)


def _end(text: str | None, kind: Kind) -> int | float | str | None:
    if text is None:
        return None
    if kind in ("date", "datetime"):
        return text
    end = _value(text, "")
    return None if isinstance(end, str | bool) else end


def write(said: Declaration) -> bytes:
    """The codebook, in the order of elements that its schema asks for."""
    root = Element("codeBook", {"xmlns": SPACE, "version": "2.5"})
    if not said.confirmed:
        SubElement(SubElement(root, "docDscr"), "notes").text = UNCONFIRMED
    citation = SubElement(SubElement(SubElement(root, "stdyDscr"), "citation"), "titlStmt")
    _say(citation, "titl", said.name)
    data = SubElement(root, "dataDscr")
    for number, column in enumerate(said.columns, 1):
        _write(data, column, f"V{number}", named=column.name == said.identifier or column.kind == "identifier")
    indent(root)
    text = tostring(root, encoding="unicode")
    bad = UNHELD.search(text)
    if bad is not None:
        msg = f"the schema holds the character {bad[0]!a}, which no XML can hold; remove it, or export another format"
        raise SchemaError(msg)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.replace("\r", "&#13;").encode()


def _write(data: Any, column: DeclaredColumn, number: str, *, named: bool) -> None:
    listed = listed_values(column)
    given = {"ID": number, "name": column.name}
    if column.kind == "float" and column.decimals is not None:
        given["dcml"] = str(column.decimals)
    elif column.kind == "integer" and not listed:
        given["dcml"] = "0"
    if isinstance(column.low, int | float):
        given |= {"nature": "interval"} | ({"intrvl": "contin"} if column.kind == "float" else {})
    elif listed:
        given["nature"] = "ordinal" if column.ordered else "nominal"
    var = SubElement(data, "var", given)
    if column.label:
        _say(var, "labl", column.label)
    if column.low is not None and column.high is not None:
        ends = {"min": canonical(column.low), "max": canonical(column.high)}
        SubElement(SubElement(var, "valrng"), "range", ends)
    absent = {canonical(c) for c in column.codes_missing}
    if absent and not listed:
        codes = SubElement(var, "invalrng")
        for code in column.codes_missing:
            SubElement(codes, "item", {"VALUE": canonical(code)})
    if column.description:
        _say(var, "txt", column.description)
    for code in dict.fromkeys([*map(canonical, listed), *column.words]):
        category = SubElement(var, "catgry", {"missing": "Y"} if code in absent else {})
        _say(category, "catValu", code)
        if code in column.words:
            _say(category, "labl", column.words[code])
    if column.blank is False:
        SubElement(var, "codInstr").text = NO_BLANK
    if named or column.kind == "ignored":
        SubElement(var, "concept").text = IDENTIFIER if named else LEFT_OUT
    texts = [v for v in listed if isinstance(v, str)]
    mixed = 0 < len(texts) < len(listed) and not any(NUMBER.match(v) for v in texts)  # codes and .a of one column
    text = column.kind == "boolean" or (column.kind == "text" and not mixed)
    form = {"type": "character" if text or column.kind in CLOCKS.values() else "numeric"}
    if column.kind in CLOCKS.values():
        form["category"] = "date" if column.kind == "date" else "time"
        form["formatname"] = next(k for k, v in CLOCKS.items() if v == column.kind)
    SubElement(var, "varFormat", form)
