"""The Schema page takes codebooks; the Export page knows which labels each format carries."""

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpsyn_core.data import paths
from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers.formats import FORMATS, export, not_carried
from ui.schema import files


def upload(name, raw):
    return SimpleNamespace(name=name, size=len(raw), getvalue=lambda: raw)


def test_a_codebook_changes_the_columns_that_it_describes_and_a_file_with_records_goes_to_the_data_page():
    schema = Schema.load(paths("sample")[1])
    space = SimpleNamespace(schema=schema, dataset=None)
    for form in ("ddi", "csvw-eo", "frictionless", "sdv"):
        found = files.chosen(space, [upload(f"x{FORMATS[form].ending}", export(schema, form)[0])])
        assert [a.name for a in found.attributes] == [a.name for a in schema.attributes]
        assert found["SEX"].values == schema["SEX"].values and found["AGE"].max == schema["AGE"].max, form
    for name in ("x.sav", "x.xml", "x.json"):
        with pytest.raises(SchemaError, match="load it on the Data page"):
            files.chosen(space, [upload(name, b"$FL2")])
    with pytest.raises(SchemaError, match="document type"):
        files.chosen(space, [upload("x.xml", b"<!DOCTYPE a><codeBook/>")])


def test_what_labels_do_not_travel_is_known_before_a_run():
    schema = Schema.load(paths("sample")[1])
    assert not not_carried(schema, ".sav")
    assert [str(x) for x in not_carried(schema, ".dta")] == ["of 'INCWAGE', which codes are missing ones"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_a_format_leaves_out_has_words_in_both_languages(language):
    from typing import get_args

    from dpsyn_core.tables.labelled_write import SAID, What

    assert set(SAID) == set(get_args(What))
    path = Path(__file__).resolve().parents[2] / "assets" / "text" / f"{language}.toml"
    words = tomllib.loads(path.read_text("utf-8"))["export"]
    assert {k.removeprefix("lost_") for k in words if re.match("lost_(?!more)", k)} == set(SAID)
