"""SPSS, Stata and SAS files: codes stay codes, labels travel, damaged files are refused in a sentence."""

import datetime
import hashlib
import struct
import sys
import time

import pyarrow as pa
import pytest

pytest.importorskip("pyreadstat")

from dpsyn_core.errors import ExtraError, TableError
from dpsyn_core.tables.declared import DeclaredColumn, declared_in
from dpsyn_core.tables.labelled import HERE
from dpsyn_core.tables.labelled_write import planned
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.write import write_table

DAY, MOMENT = datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5)
TABLE = pa.table(
    {
        "sex": pa.array([1, 2, 9, None], pa.int64()),
        "pay": [1.5, None, -2.0, 3e9],
        "town": ["Oslo", "=x", None, "Å"],
        "born": pa.array([DAY, DAY, None, datetime.date(1850, 7, 1)]),
        "seen": pa.array([MOMENT, None, MOMENT, MOMENT], pa.timestamp("s")),
        "mood": ["1", ".a", None, "2"],
    }
)
SAID = {
    "sex": DeclaredColumn(
        name="sex", label="Sex", values=(1, 2, 9), words={"1": "Male", "9": "none"}, codes_missing=(9,)
    ),
    "mood": DeclaredColumn(
        name="mood", values=(1, 2, ".a"), words={"1": "good", ".a": "silent"}, codes_missing=(".a",)
    ),
}


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Read in this process, which is quicker; one test below has the process of its own."""
    monkeypatch.setenv(HERE, "1")


def test_a_file_is_read_in_a_process_of_its_own_and_one_that_ends_it_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path, "sav")
    here = read_table(path)
    monkeypatch.delenv(HERE)
    assert read_table(path).equals(here, check_metadata=True)
    with pytest.raises(TableError, match="the SPSS file cannot be read"):
        read_table(path.read_bytes()[:500])
    crash = tmp_path / "crash"
    crash.write_text("#!/bin/sh\nkill -SEGV $$\n")
    crash.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(crash))
    with pytest.raises(TableError, match="crashed the reader"):
        read_table(path)


def written(tmp_path, ending, table=TABLE, said=SAID):
    path = tmp_path / f"t.{ending}"
    write_table(table, path, said)
    return path


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_cells_come_back_from_a_path_and_from_an_upload_and_the_bytes_name_no_moment(tmp_path, ending):
    path = written(tmp_path, ending)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for found in (read_table(path), read_table(path.read_bytes())):
        cells = found.to_pydict()
        assert [c or None for c in cells.pop("town")] == TABLE["town"].to_pylist()
        assert [c or None for c in cells.pop("mood")] == TABLE["mood"].to_pylist()
        assert cells == TABLE.drop_columns(["town", "mood"]).to_pydict()
    time.sleep(1.1)  # SPSS and SAS name the second
    assert hashlib.sha256(written(tmp_path, ending).read_bytes()).hexdigest() == digest


def test_labels_and_missing_codes_travel_as_far_as_each_format_carries_them_and_the_rest_is_said(tmp_path):
    spss = declared_in(read_table(written(tmp_path, "sav")))
    assert (spss["sex"].label, dict(spss["sex"].words), spss["sex"].codes_missing) == (
        "Sex", {"1": "Male", "9": "none"}, (9,),
    )  # fmt: skip
    stata = declared_in(read_table(written(tmp_path, "dta")))
    assert dict(stata["mood"].words) == {"1": "good", ".a": "silent"} and stata["mood"].codes_missing == (".a",)
    assert planned(TABLE.schema, SAID, ".dta").lost == ("of 'sex', which codes are missing ones",)
    assert len(planned(TABLE.schema, SAID, ".xpt").lost) == 4


def test_a_blank_behind_a_missing_letter_of_stata_stays_blank(tmp_path):
    """pyreadstat 1.3.7 writes what lies in memory there, where the column holds whole numbers."""
    table = pa.table({"mood": ["1", ".a", *[None] * 50]})
    cells = read_table(written(tmp_path, "dta", table))["mood"].to_pylist()
    assert cells == ["1", ".a", *[None] * 50]


def test_headers_that_a_format_does_not_know_are_renamed_said_and_kept_as_labels(tmp_path):
    table = pa.table({"hours per week": [1], "hours_per_week": [2], "all": [3], "_x": [4], "1st": [5]})
    plan = planned(table.schema, {}, ".dta")
    assert plan.names == ("hours_per_week", "hours_per_week_2", "all_", "v_x", "v_1st") and len(plan.lost) == 5
    found = declared_in(read_table(written(tmp_path, "dta", table, {})))
    assert found["hours_per_week"].label == "hours per week"


def test_what_a_record_becomes_does_not_depend_on_the_others(tmp_path):
    import numpy as np

    from dpsyn_core.schema.codec import Codec
    from dpsyn_core.schema.document import Schema

    schema = Schema.of(
        {
            "version": 1,
            "name": "t",
            "attributes": [
                {"name": "sex", "kind": "categorical", "values": [1, 2, 9], "missing": True},
                {"name": "pay", "kind": "numeric", "min": 0, "max": 10, "missing": True},
                {"name": "mood", "kind": "categorical", "values": [1, 2, ".a"], "missing": True},
            ],
        }
    )
    codec = Codec(schema)
    for ending in ("sav", "dta", "xpt"):
        whole = codec.encode(read_table(written(tmp_path, ending))).codes
        alone = [codec.encode(read_table(written(tmp_path, ending, TABLE.slice(i, 1)))).codes for i in range(4)]
        assert np.array_equal(whole, np.concatenate(alone, axis=1)), ending


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_a_file_that_is_cut_anywhere_is_refused_in_a_sentence_or_read(tmp_path, ending):
    raw = written(tmp_path, ending).read_bytes()
    refused = 0
    for at in range(1, len(raw), max(1, len(raw) // 60)):
        try:
            assert read_table(raw[:at]).num_columns
        except TableError as error:
            refused += 1
            assert "Oslo" not in str(error)
    assert refused


def test_files_of_other_kinds_old_versions_and_impossible_sizes_are_refused(tmp_path):
    png = tmp_path / "x.sas7bdat"
    png.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 300)
    with pytest.raises(TableError, match="the file is an image"):
        read_table(png)
    png.write_bytes(b"age,sex\n1,2\n")
    with pytest.raises(TableError, match="called SAS by its ending, and its content is not"):
        read_table(png)
    with pytest.raises(TableError, match="Stata file of version 102, and versions 104 to 119"):
        read_table(bytes([102, 2, 1, 0]) + b"\0" * 300)
    raw = bytearray(written(tmp_path, "dta").read_bytes())
    at = raw.index(b"<N>") + 3
    raw[at : at + 8] = struct.pack("<Q", 2**31 - 1)  # the number of records
    with pytest.raises(TableError, match="declares more than 100 cells for each of its bytes"):
        read_table(bytes(raw))
    with pytest.raises(TableError, match="headers are given, and a file of SPSS"):
        read_table(written(tmp_path, "sav"), header="a,b")


def test_text_that_is_not_in_the_encoding_of_the_file_is_refused_until_it_is_named(tmp_path):
    raw = written(tmp_path, "dta").read_bytes()
    broken = raw.replace("Å".encode(), b"\xc5 ")
    assert broken != raw
    with pytest.raises(TableError, match="--encoding"):
        read_table(broken)
    assert read_table(broken, encoding="latin-1")["town"].to_pylist()[3].startswith("Å")


def test_a_missing_extra_is_one_sentence_with_its_command(tmp_path, monkeypatch):
    raw = written(tmp_path, "sav").read_bytes()
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    for needs in (lambda: read_table(raw), lambda: write_table(TABLE, tmp_path / "x.dta")):
        with pytest.raises(ExtraError, match=r"pip install 'dpsyn-studio\[codebooks\]'"):
            needs()
