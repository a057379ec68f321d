"""Receipts of files that hold more than the table: only the release's own bytes are called safe to publish."""

import gzip
import json
import os
import shutil
import zipfile
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest

from dpsyn_core.commands.verify import PUBLISHABLE
from dpsyn_core.evaluate.base import ANOTHER_LABEL, SAFE_LABEL
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.parts import synthesize_to
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.verify.receipts import receipt
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.write import write_table
from tests.commands.small import SCHEMA
from tests.commands.small import write_table as write_people

ENDINGS = ("csv", "tsv", "csv.gz", "parquet", "xlsx")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One release of a small table, written in every format, each with its own manifest; and as a folder of parts."""
    place = tmp_path_factory.mktemp("made")
    write_people(place / "people.csv")
    schema = Schema.of(SCHEMA)
    schema.dump(place / "schema.json")
    table, asked = read_table(place / "people.csv"), {"epsilon": 1.0, "delta": 1e-9, "rng": 0, "method": "independent"}
    book = Ledger(place / "ledger.sqlite3")
    release = synthesize(table, schema, ledger=book, **asked)
    for ending in ENDINGS:
        release.write(place / f"t.{ending}", place / f"{ending}.json")
    asked["method"] = "rls"
    synthesize_to(table, schema, out=f"{place}/parts/", manifest=place / "parts.json", ledger=book, **asked)
    return place


@pytest.fixture
def place(made, tmp_path):
    shutil.copytree(made, tmp_path / "made")
    return tmp_path / "made"


def more_metadata(path):
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), b"real": b"anna,34"}), path)


def more_of_a_field(path):
    table = pq.read_table(path)
    field = table.schema.field(0).with_metadata({b"real": b"anna,34"})
    pq.write_table(table.cast(table.schema.set(0, field)), path)


def hidden_sheet(path):
    book = openpyxl.load_workbook(path)
    sheet = book.create_sheet("real")
    sheet.append(["anna", 34])
    sheet.sheet_state = "veryHidden"
    book.save(path)


def comment_in_a_cell(path):
    book = openpyxl.load_workbook(path)
    book.worksheets[0]["A2"].comment = openpyxl.comments.Comment("anna, 34", "owner")
    book.save(path)


def defined_name(path):
    book = openpyxl.load_workbook(path)
    book.defined_names["real"] = openpyxl.workbook.defined_name.DefinedName("real", attr_text='"anna, 34"')
    book.save(path)


def properties(path):
    book = openpyxl.load_workbook(path)
    book.properties.description = "anna, 34"
    book.save(path)


def more_in_the_zip(path):
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("customXml/item1.xml", "<real>anna,34</real>")


def comment_of_the_zip(path):
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"anna,34"


def gzip_header(path):
    """The same member with a comment, and with an extra field, in its header (RFC 1952)."""
    raw = path.read_bytes()
    assert raw[3] == 0
    path.write_bytes(raw[:3] + bytes([0x10 | 0x04]) + raw[4:10] + b"\x07\x00ab\x03\x00ann" + b"anna,34\x00" + raw[10:])


def empty_member(path):
    path.write_bytes(path.read_bytes() + gzip.compress(b"", mtime=34))


def byte_order_mark(path):
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def other_line_ends(path):
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def quoted(path):
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], b'"' + lines[1].replace(b",", b'",', 1), *lines[2:]]))


def point_zero(path):
    """Whole numbers with .0 or without are one number to the digest, and a bit of the file each."""
    rows = [line.split(",", 2) for line in path.read_text("utf-8").splitlines()]
    rows[1][1] += ".0"
    path.write_text("\n".join(",".join(r) for r in rows) + "\n", encoding="utf-8")


def behind_the_footer(path):
    raw = path.read_bytes()
    path.write_bytes(raw[:4] + b"anna,34" + raw[4:])  # offsets move: no reader takes it


HIDING = [
    ("parquet", more_metadata), ("parquet", more_of_a_field), ("xlsx", hidden_sheet), ("xlsx", comment_in_a_cell),
    ("xlsx", defined_name), ("xlsx", properties), ("xlsx", more_in_the_zip), ("xlsx", comment_of_the_zip),
    ("csv.gz", gzip_header), ("csv.gz", empty_member), ("csv", byte_order_mark), ("csv", other_line_ends),
    ("csv", quoted), ("csv", point_zero), ("parquet", behind_the_footer),
]  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_file_as_written_is_safe_to_publish(place, ending):
    found = receipt(place / f"t.{ending}", place / f"{ending}.json", schema=Schema.load(place / "schema.json"))
    assert found.holds and found.own and found.publishable
    assert "byte for byte" in found.sentence


@pytest.mark.parametrize(("ending", "hide"), HIDING, ids=[f"{e}-{h.__name__}" for e, h in HIDING])
def test_a_file_that_holds_more_than_the_table_is_never_safe_to_publish(place, ending, hide):
    path = place / f"t.{ending}"
    before = path.read_bytes()
    hide(path)
    assert path.read_bytes() != before
    found = receipt(path, place / f"{ending}.json")
    assert not found.publishable
    if found.holds:
        assert not found.own
        assert "may hold more than the table" in found.sentence
    else:
        assert "not the table of this manifest" in found.sentence or "does not read" in found.sentence


def test_most_ways_to_hide_something_leave_the_table_the_releases(place):
    """Else the test above would say nothing of the digest of the file."""
    held = 0
    for ending, hide in HIDING:
        path = place / "again" / f"t.{ending}"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(place / f"t.{ending}", path)
        hide(path)
        held += receipt(path, place / f"{ending}.json").holds
    assert held >= 12


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_table_in_another_file_is_told_apart_from_the_release(place, ending):
    """The manifest of the Parquet file alone: copies in other formats are the same table, and other files."""
    write_table(pq.read_table(place / "t.parquet"), place / f"copy.{ending}")
    found = receipt(place / f"copy.{ending}", place / "parquet.json")
    assert found.holds
    assert found.publishable == (ending == "parquet")  # the writer gives the same bytes


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_that_is_written_twice_has_the_same_bytes(place, ending, monkeypatch):
    table = pq.read_table(place / "t.parquet")
    write_table(table, place / f"a.{ending}")
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    os.utime(place / f"a.{ending}", (1, 1))
    import time

    time.sleep(2.1 if ending == "xlsx" else 0.0)  # the clock of a zip counts in steps of two seconds
    write_table(table, place / f"b.{ending}")
    assert (place / f"a.{ending}").read_bytes() == (place / f"b.{ending}").read_bytes()


@pytest.mark.parametrize("name", ["_real.csv", ".real.csv", "_SUCCESS", ".hidden/real.csv"])
def test_a_folder_of_parts_that_holds_another_file_is_not_safe_to_publish(place, name):
    assert receipt(place / "parts", place / "parts.json").publishable
    (place / "parts" / name).parent.mkdir(exist_ok=True)
    (place / "parts" / name).write_text("anna,34\n", encoding="utf-8")
    found = receipt(place / "parts", place / "parts.json")
    assert found.holds and not found.publishable
    assert f"'{name.split('/')[0]}'" in found.sentence


def test_a_part_that_is_a_link_or_was_saved_again_makes_the_folder_unsafe_to_publish(place):
    part = next((place / "parts").iterdir())
    aside = place / "aside.parquet"
    part.rename(aside)
    part.symlink_to(aside)
    found = receipt(place / "parts", place / "parts.json")
    assert found.holds and not found.publishable and "is a link" in found.sentence
    part.unlink()
    shutil.copy(aside, part)
    assert receipt(place / "parts", place / "parts.json").publishable
    more_metadata(part)
    found = receipt(place / "parts", place / "parts.json")
    assert found.holds and not found.publishable and f"'{part.name}'" in found.sentence


def test_a_manifest_without_digests_of_files_still_verifies_its_table_and_promises_no_file(place):
    document = json.loads((place / "csv.json").read_text("utf-8"))
    document["digests"]["files"] = {}
    (place / "old.json").write_text(json.dumps(document), encoding="utf-8")
    found = receipt(place / "t.csv", place / "old.json")
    assert found.holds and not found.publishable
    assert "names no digest of a file" in found.sentence


def test_verify_answers_whether_a_file_is_safe_to_publish_by_its_exit_status(place, capsys):
    from dpsyn_core.commands.cli import main

    table, manifest = str(place / "t.xlsx"), str(place / "xlsx.json")
    assert main(["verify", table, "--manifest", manifest, PUBLISHABLE]) == 0
    assert "safe to publish" in capsys.readouterr().out
    hidden_sheet(Path(table))
    assert main(["verify", table, "--manifest", manifest]) == 0
    assert "not called safe to publish" in capsys.readouterr().out
    assert main(["verify", table, "--manifest", manifest, PUBLISHABLE]) == 2
    assert "may hold more than the table" in capsys.readouterr().err


def test_a_report_on_a_file_that_may_hold_more_is_not_called_safe_to_publish(place):
    from dpsyn_core.commands.cli import main

    for label, hide in ((SAFE_LABEL, None), (ANOTHER_LABEL, hidden_sheet)):
        if hide:
            hide(place / "t.xlsx")
        assert main(["report", "-", str(place / "t.xlsx"), "--schema", str(place / "schema.json"), "--json",
                     str(place / "r.json"), "--manifest", str(place / "xlsx.json"), "--quiet"]) == 0  # fmt: skip
        assert json.loads((place / "r.json").read_text("utf-8"))["label"] == label
