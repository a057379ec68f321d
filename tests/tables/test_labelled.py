"""SPSS, Stata and SAS files: codes stay codes, labels travel, damaged files are refused in a sentence."""

import base64
import datetime
import hashlib
import struct
import sys
import time
import zlib

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyreadstat")

from dpsyn_core.errors import ExtraError, TableError
from dpsyn_core.schema.importers.formats import read_codebook_bytes
from dpsyn_core.tables import labelled
from dpsyn_core.tables.declarations import DeclaredColumn, declared_in
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
# a .sas7bdat of the library that pyreadstat is made of (ReadStat 1.1.9, readstat_begin_writing_sas7bdat), as zlib text:
# pyreadstat itself reads such files and writes none
SAS = (
    "c-rmSze^)Q6bJAZO&}%~8?dktTqK2s$mUK?tjvll24ZsDMvYgUhpQgQMiRwXshx$De}n(ParHsC#!@T<i-Ri^3o9!X{1GQR6JsX3DyBO8enR"
    "q?H*aPq2?;weL^XfTx4!-Ah#dUh4N}{FY^SqZiF_pLAs@x)SsisPQ#aMIMA9%Pzf2i3swaBEsGiYz-R95n)qi>|N-8rcL@iQ!s9%d|u?daE0"
    "Tw?cf7q)<0ssI200000000000001Zk3#H0bllEcy{+}VC6VuxMrA~PshaTdposjal-~=x*UyQ3T$(@Xkv|Q&=l4AFa~^pB0001ZyZf86<F)l"
    "!3N<zUGX<I&Ki=f{X5YU?e)c**5z)To!^>HzF36sKcB34W+KOnmJM9+glKP`k`zdj$vi6wiB7V!SiWqfP$94iD_K8??=dxb;%x}Re((>#&t>"
    "o71@438Puq@j&vSX%IRCDv{%A%z%TlqrHu3Rybo=%Z-9@rQXF_V}uKCnezGL`uP(i*Oq*L>D}BKkf0120XWxTnh!{0qQ;$@lb^aWTx}^>Eru"
    "*4Hf@u`P5wF**3RdOn|TsSmF=M$##lTHePKJ=N`Zsp0xgP2IdsUHI#n-mr%4lM=o#00000004kS4|txh4g"
)


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


def test_the_process_that_reads_runs_nothing_that_lies_beside_the_file(tmp_path, monkeypatch):
    path = written(tmp_path, "dta")
    for name in ("pyreadstat", "pyarrow", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(1)\n")
    monkeypatch.delenv(HERE)
    monkeypatch.chdir(tmp_path)
    assert read_table(path.name).num_rows == 4
    assert not (tmp_path / "ran").exists()


def test_a_file_that_takes_too_long_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path, "dta")
    monkeypatch.delenv(HERE)
    monkeypatch.setattr(labelled, "SECONDS", 0.001)
    with pytest.raises(TableError, match="not read after"):
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
    assert [str(x) for x in planned(TABLE.schema, SAID, ".dta").lost] == ["of 'sex', which codes are missing ones"]
    assert len(planned(TABLE.schema, SAID, ".xpt").lost) == 4


def stata(path, letter):
    """A Stata file of each kind of number, whose third record has a letter for a missing code or a number."""
    import pandas as pd
    import pyreadstat

    third = {"day": 40.0, "time": 5e6, "whole": 7, "wide": 1e-7, "single": 2.5}
    columns = {
        "day": [21915.0, 1.0, None, -40.0], "time": [1.8e12, 1000.0, None, 5.0], "whole": [1, 12, None, 3],
        "wide": [0.1, 1e-7, None, 1e16], "single": [0.1, 3.0, None, 1e-7],
    }  # fmt: skip
    cells = {n: [*c[:2], letter or third[n], c[3]] for n, c in columns.items()}
    frame = pd.DataFrame({n: np.array(c, object) for n, c in cells.items()})
    formats = {"day": "%td", "time": "%tc"}
    missing = {n: [letter] for n in columns} if letter else {}
    if not letter:
        frame = frame.astype("float64")
    pyreadstat.write_dta(frame, str(path), version=14, variable_format=formats, missing_user_values=missing)
    return path


def test_a_letter_in_one_record_changes_no_cell_of_another_record(tmp_path, monkeypatch):
    import pyreadstat

    from dpsyn_core.tables.cells.canonical_text import to_text

    read = pyreadstat.read_dta

    def single(*args, **options):  # pyreadstat writes no 32-bit numbers
        frame, meta = read(*args, **options)
        meta.readstat_variable_types["single"] = "float"
        if "single" in frame and len(frame["single"]):
            frame["single"] = [c if isinstance(c, str) else float(np.float32(c)) for c in frame["single"]]
        return frame, meta

    monkeypatch.setattr(pyreadstat, "read_dta", single)
    without, with_one = (read_table(stata(tmp_path / f"{x}.dta", x)) for x in ("", "a"))
    for name in without.column_names:
        one, other = (to_text(t[name].combine_chunks()).to_pylist() for t in (without, with_one))
        assert other.pop(2) == ".a", name
        one.pop(2)
        assert one == other, name
    assert with_one["day"].to_pylist()[0] == "2020-01-01" and with_one["single"].to_pylist()[0] == "0.1"


def test_a_blank_behind_a_letter_in_a_column_of_whole_numbers_is_blank(tmp_path):
    """pyreadstat 1.3.7 gives what lies in memory there."""
    import pandas as pd
    import pyreadstat

    path = tmp_path / "t.dta"
    column = np.array([1, "a", 3, *range(40)], object)
    pyreadstat.write_dta(pd.DataFrame({"x": column}), str(path), missing_user_values={"x": ["a"]})
    raw = path.read_bytes()
    kind = pyreadstat.read_dta(str(path), metadataonly=True)[1].readstat_variable_types["x"]
    assert kind == "int32"
    raw = raw.replace(struct.pack("<i", 3) + struct.pack("<i", 0), struct.pack("<ii", 0x7FFFFFE5, 0x7FFFFFE5))
    cells = read_table(raw)["x"].to_pylist()
    assert cells[:5] == ["1", ".a", None, None, "1"]


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
        else:
            assert ending != "xpt" or at % 80 == 0 or at < 80, at  # the format counts no records
    assert refused


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt", "sas7bdat"])
@pytest.mark.parametrize("encoding", [None, "utf-16", "latin-1"])
def test_a_file_with_other_bytes_or_huge_lengths_is_refused_in_a_sentence_or_read(tmp_path, ending, encoding):
    sas = ending == "sas7bdat"
    raw = zlib.decompress(base64.b85decode(SAS)) if sas else written(tmp_path, ending).read_bytes()
    path, rng = tmp_path / f"hostile.{ending}", np.random.default_rng(1)
    refused = 0
    for turn in range(40):
        damaged, start = bytearray(raw), rng.integers(16, 1200)
        huge = (b"\xff\xff\xff\x7f", b"\x7f\xff\xff\xff", struct.pack("<Q", 2**40), struct.pack("<d", 1e300))
        some = bytes(rng.integers(0, 256, 1 + turn % 8, dtype=np.uint8)) if turn % 2 else huge[turn // 2 % 4]
        damaged[start : start + len(some)] = some
        path.write_bytes(damaged)
        try:
            table = read_table(path) if encoding is None else read_table(path, encoding=encoding)
        except TableError as error:
            refused += 1
            assert "Oslo" not in str(error) and "\n" not in str(error)
        else:
            assert table.nbytes < 100 * len(raw)
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
        with pytest.raises(ExtraError, match=r'pip install "dpsyn-studio\[codebooks\]"'):
            needs()


def test_a_sas_table_is_read_with_its_dates_and_says_what_it_declares(tmp_path):
    path = tmp_path / "survey.sas7bdat"
    path.write_bytes(zlib.decompress(base64.b85decode(SAS)))
    table = read_table(path)
    assert table["sex"].to_pylist()[:3] == [1, 2, 9] and table["pay"].to_pylist() == [1.5, None, -2, 3e9]
    assert table["town"].to_pylist() == ["OSL", "BON", "", "OSL"]
    assert table["born"].to_pylist() == [DAY, DAY, None, datetime.date(1850, 6, 26)]
    assert table["seen"].to_pylist()[:2] == [MOMENT, None]
    assert declared_in(table)["sex"].label == "Sex of the person"


def test_a_catalogue_of_sas_formats_is_refused_with_what_to_give_for_labels(tmp_path):
    path = tmp_path / "formats.sas7bcat"
    path.write_bytes(b"\0" * 12 + b"\xc2\xea\x81\x63" + b"\0" * 300)
    for read in (lambda: read_table(path), lambda: read_codebook_bytes(path.read_bytes(), name="t", what=path.name)):
        with pytest.raises(TableError, match=r"catalogue of SAS formats .* codebook, or the table as an SPSS or Stata"):
            read()


def test_a_draft_of_a_stata_file_keeps_letters_without_labels_as_missing_codes_there_and_back(tmp_path):
    import pandas as pd
    import pyreadstat

    from dpsyn_core import draft_schema
    from dpsyn_core.schema.importers.declared import declaration_of

    cells = pd.DataFrame({"age": ["a" if i % 9 == 0 else 20 + i % 5 for i in range(90)], "vote": [1, 5] * 45})
    labels = {"vote": {1: "yes", 5: "no"}}
    pyreadstat.write_dta(cells, tmp_path / "t.dta", missing_user_values={"age": ["a"]}, variable_value_labels=labels)
    schema = draft_schema(read_table(tmp_path / "t.dta"), "t")
    assert schema["age"].notes["missing_codes"] == [".a"] and schema["vote"].values == (1, 5)
    write_table(read_table(tmp_path / "t.dta"), tmp_path / "o.dta", {c.name: c for c in declaration_of(schema).columns})
    again, found = pyreadstat.read_dta(tmp_path / "o.dta", user_missing=True)
    assert list(again["age"]) == list(cells["age"]) and found.missing_user_values == {"age": ["a"]}


SHOWN = {
    "sav": {"sex": "F2.0", "pay": "COMMA12.2", "born": "EDATE10", "seen": "DATETIME23.2"},
    "dta": {"sex": "%4.0f", "pay": "%9.1f", "born": "%tdDD.NN.CCYY", "seen": "%tcCCYY-NN-DD_HH:MM:SS"},
    "xpt": {"pay": "8.2", "born": "DDMMYY10", "seen": "DATETIME16"},
}


@pytest.mark.parametrize("of", ["pay", "born"])
def test_every_format_of_spss_is_read_and_written_again(tmp_path, of):
    import pyreadstat

    numbers = "F8.2 N5 E12.3 COMMA10.2 DOT10.2 DOLLAR10.2 CCA8.2 PCT8.1 TIME8 DTIME11 WKDAY9 MONTH9"
    days = "DATE9 DATE11 ADATE8 ADATE10 EDATE10 SDATE10 JDATE7 MOYR8 QYR8 WKYR10"
    for form in (numbers if of == "pay" else days).split():
        write_table(TABLE, tmp_path / "a.sav", {of: DeclaredColumn(name=of, shown=form)})
        assert pyreadstat.read_sav(tmp_path / "a.sav", metadataonly=True)[1].original_variable_types[of] == form
        assert read_table(tmp_path / "a.sav")[of].to_pylist() == TABLE[of].to_pylist()


@pytest.mark.parametrize("ending", SHOWN)
def test_columns_are_shown_as_in_the_file_that_a_schema_was_drafted_from(tmp_path, ending):
    import pyreadstat

    from dpsyn_core import draft_schema
    from dpsyn_core.schema.importers.declared import declared_columns

    said = {n: DeclaredColumn(name=n, shown=form) for n, form in SHOWN[ending].items()}
    write_table(pa.concat_tables([TABLE] * 9), tmp_path / f"a.{ending}", said)
    table = read_table(tmp_path / f"a.{ending}")
    schema = draft_schema(table, "t")
    assert {a.name: a.notes["shown"] for a in schema.attributes if a.name in said} == SHOWN[ending]
    write_table(table, tmp_path / f"b.{ending}", declared_columns(schema))
    reader = getattr(pyreadstat, {"xpt": "read_xport"}.get(ending, f"read_{ending}"))
    found = reader(tmp_path / f"b.{ending}", metadataonly=True)[1].original_variable_types
    assert {n: found[n] for n in said} == SHOWN[ending]


def test_a_format_of_another_program_is_not_written(tmp_path):
    said = {n: DeclaredColumn(name=n, shown=form) for n, form in SHOWN["dta"].items()}
    said["town"] = DeclaredColumn(name="town", shown="F8.2")
    write_table(TABLE, tmp_path / "a.sav", said)
    assert {n: c.shown for n, c in declared_in(read_table(tmp_path / "a.sav")).items() if c.shown} == {
        "sex": "F12.0", "pay": "F8.2", "born": "DATE11", "seen": "DATETIME20",
    }  # fmt: skip


def test_a_draft_says_that_cells_may_be_blank_only_where_one_is(tmp_path):
    from dpsyn_core import draft_schema

    full = pa.table({"sex": [1, 2, 9] * 9, "pay": [*range(26), 99_999], "part": [*range(25), None, 99_999]})
    said = {
        "sex": DeclaredColumn(name="sex", words={"1": "m", "2": "f", "9": "none"}, codes_missing=(9,)),
        **{n: DeclaredColumn(name=n, codes_missing=(99_999,)) for n in ("pay", "part")},
    }
    write_table(full, tmp_path / "a.sav", said)
    schema = draft_schema(read_table(tmp_path / "a.sav"), "t")
    assert {a.name: a.missing for a in schema.attributes} == {"sex": False, "pay": False, "part": True}
    assert schema["pay"].special_values == (99_999,)


def test_numbers_with_letters_are_drafted_as_a_range_and_lists_with_them_are_written_again(tmp_path):
    import pandas as pd
    import pyreadstat

    from dpsyn_core.schema.codec import Codec
    from dpsyn_core.schema.drafts.draft import drafted
    from dpsyn_core.schema.drafts.proposals import rounded

    letters = ["a", "b"] * 20
    frame = pd.DataFrame(
        {
            "income": np.array([*(float(x) for x in range(1000, 3000, 5)), *letters], object),
            "children": np.array([*(float(x % 4) for x in range(400)), *letters], object),
        }
    )
    missing = {"income": ["a", "b"], "children": ["a", "b"]}
    words = {n: {"a": "refused", "b": "unknown"} for n in missing}
    pyreadstat.write_dta(
        frame, str(tmp_path / "t.dta"), version=14, missing_user_values=missing, variable_value_labels=words
    )
    table = read_table(tmp_path / "t.dta")
    schema = rounded(drafted(table, "t")[0], table)
    income, children = schema["income"], schema["children"]
    assert income.kind == "numeric" and income.missing and (income.min, income.max) == (800, 3000)
    assert set(children.keys) == {"0", "1", "2", "3", ".a", ".b"} and children.other
    codes = np.stack([np.zeros(40, np.int64), np.arange(40) % children.size])
    made = Codec(schema).decode(codes, rng=np.random.default_rng(1))
    assert set(made["children"].to_pylist()) <= {"0", "1", "2", "3", ".a", ".b"}, "a program has no word among numbers"
    write_table(made, tmp_path / "o.dta", {a.name: a for a in declared_in(table).values()})
    assert read_table(tmp_path / "o.dta")["children"].to_pylist() == made["children"].to_pylist()


def test_codes_that_a_file_does_not_declare_stand_apart_next_to_those_that_it_does(tmp_path):
    import pandas as pd
    import pyreadstat

    from dpsyn_core.schema.drafts.draft import draft

    frame = pd.DataFrame({"pay": [*(500.0 + 7 * i for i in range(300)), -88.0, -88.0, -99.0], "x": ["a"] * 303})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), missing_ranges={"pay": [-99]})
    pyreadstat.write_dta(frame, str(tmp_path / "t.dta"))
    for ending in ("sav", "dta"):
        pay = draft(tmp_path / f"t.{ending}", "t")["pay"]
        assert (pay.min, {*pay.special_values}) == (500, {-99, -88})
