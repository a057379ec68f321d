"""What is written is read, and written again as the same bytes: schemas with awkward texts, drawn at random."""

import random

import pytest

from dpsyn_core import synthesize
from dpsyn_core.errors import QuestionError, SchemaError
from dpsyn_core.questions.document import Questions
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers.formats import FORMATS, export, read_schema
from tests.schema.helpers import cat

TEXTS = [
    "plain", "a & b", "<tag>", 'q"uote', "ap'os", "ümläut", "日本語", "🙂", "tab\there", "new\nline", "cr\rhere",
    "semi;colon", "back\\slash", "../../etc", "{curly}", "  lead", "trail  ", "null",
    "NaN", "-1", "1e5", "a|b", "]]>", "<!--", "&amp;",
    "\u202ertl",
]  # fmt: skip
LISTS = (TEXTS, list(range(-3, 9)), [0.5, 1.5, 2.5], ["01", "02", "1", "10"], ["", "a", "b"])


def attribute(rng, name):
    made = {"name": name} | {k: rng.choice(TEXTS) for k in ("label", "description") if rng.random() < 0.5}
    kind = rng.choice(["categorical"] * 3 + ["integer", "float", "datetime", "identifier", "ignored"])
    if kind in ("identifier", "ignored"):
        return made | {"kind": kind}
    made["missing"] = rng.random() < 0.4
    if kind == "categorical":
        pool = rng.choice(LISTS)
        values = rng.sample(pool, rng.randrange(2, min(6, len(pool) + 1)))
        notes = {"labels": {str(v): rng.choice(TEXTS) for v in values if rng.random() < 0.7}}
        notes |= {"missing_codes": [str(values[0])]} if rng.random() < 0.4 else {}
        return made | {"kind": kind, "values": values, "ordered": rng.random() < 0.3, "notes": notes}
    if kind == "datetime":
        formats = {"formats": [rng.choice(["%d.%m.%Y", "%m/%d/%Y"])]} if rng.random() < 0.5 else {}
        return made | {"kind": kind, "min": "2000-01-01", "max": "2020-12-31"} | formats
    ends = (
        {"min": -5, "max": rng.randrange(1, 10**9)}
        if kind == "integer"
        else {"min": -1.5, "max": 1000.25, "step": 0.05}
    )
    return made | {"kind": "numeric", "dtype": kind, **ends}


def drawn(seed):
    rng = random.Random(seed)
    names = rng.sample(TEXTS, rng.randrange(1, 6))
    return {
        "version": 1, "name": rng.choice(TEXTS[:8]),
        "attributes": [cat("always", ["a", "b"]), *(attribute(rng, n) for n in names)],
    }  # fmt: skip


@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"sdv"}))
def test_a_document_that_is_read_and_written_again_is_the_same_bytes(form):
    made = 0
    for seed in range(60):
        try:
            schema = Schema.of(drawn(seed))
        except SchemaError:  # some draws are no schema
            continue
        raw = export(schema, form)[0]
        assert export(read_schema(raw, name=schema.name, what="x"), form)[0] == raw, seed
        made += 1
    assert made > 30


def test_metadata_of_sdv_is_the_same_bytes_where_it_is_put_onto_the_schema_again():
    for seed in range(60):
        try:
            schema = Schema.of(drawn(seed))
        except SchemaError:
            continue
        raw = export(schema, "sdv")[0]
        assert export(read_schema(raw, name=schema.name, what="x", onto=schema), "sdv")[0] == raw, seed


def test_a_character_that_xml_cannot_hold_is_refused_with_its_remedy():
    schema = Schema.of({"version": 1, "name": "t", "attributes": [cat("a", ["x", "y"], label="q\x01")]})
    with pytest.raises(SchemaError, match="no XML can hold; remove it, or export another format"):
        export(schema, "ddi")
    assert export(schema, "frictionless")[0]


@pytest.mark.parametrize(
    "document",
    [
        {"name": "t", "attributes": [cat("a", ["x", "y"], label="q\ud800")]},
        {"name": "t", "attributes": [cat("a", ["x", "y\udfff"])]},
        {"name": "\ud800", "attributes": [cat("a", ["x", "y"])]},
    ],
)
def test_half_of_a_character_is_refused_before_anything_is_charged(document):
    with pytest.raises(SchemaError, match="half of a character"):
        synthesize({}, Schema.of({"version": 1, **document}), epsilon=1.0, delta=1e-6, rng=1)
    with pytest.raises(QuestionError, match="half of a character"):
        Questions.of([{"name": "q\ud800", "kind": "table", "by": ["a"]}])


def test_an_identifier_keeps_its_words():
    key = {"name": "pid", "kind": "identifier", "label": "Person", "description": "a number"}
    schema = Schema.of(
        {"version": 1, "name": "t", "unit": {"identifier": "pid"}, "attributes": [cat("a", ["x", "y"]), key]}
    )
    for form in FORMATS:
        found = read_schema(export(schema, form)[0], name="t", what="x", onto=schema)
        assert found["pid"].label == "Person" and found["pid"].description == "a number", form


LABELLED = (
    b"<codeBook><dataDscr><var name='a'><catgry><catValu>1</catValu><labl>x</labl></catgry><catgry><catValu>1</catValu>"
    b"<labl>y</labl></catgry></var></dataDscr></codeBook>"
)


@pytest.mark.parametrize(
    "raw, words",
    [
        (LABELLED, "two labels for the code '1' of 'a'"),
        (
            b'{"fields": [{"name": "a", "categories": [{"value": 1, "label": "x"}, {"value": 1, "label": "y"}]}]}',
            "two labels for the code '1' of 'a'",
        ),
        (b'{"fields": [{"name": "a"}], "fields": []}', "holds the field 'fields' twice"),
    ],
)
def test_what_a_codebook_says_twice_in_two_ways_is_refused(raw, words):
    with pytest.raises(SchemaError, match=words):
        read_schema(raw, name="t", what="t")
