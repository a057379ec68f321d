"""Specifications with maxval and codebooks: no code is lost, and what is binned is said."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import SchemaError
from dpsyn_core.evaluate.base import compute
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers.codebook import in_codes, parse_codebook, read_codebook
from dpsyn_core.schema.importers.maxima import binned, export_maxima, fine_bins, import_maxima
from dpsyn_core.schema.importers.parameters import export_parameters, import_file, import_parameters
from dpsyn_core.schema.sample import CODEBOOK, SPECIFICATION, coded_sample, coded_schema, sample_table

# in the manner of an extract's codebook: a table of columns, case selections, sections, headings, prose
BOOK = """Description: an extract
 Variable               Columns        Len    1940
  SEX                P  71              1      X
  CITY               H  72-75           4      X

Case Selections:
P AGE      034 34

SEX\t\tSex
1\t\tMale
2\t\tFemale

CITY\t\tCity
\t\tColorado:
0000\t\tNot in identifiable city
1710\t\tDenver, CO
9990\t\tElsewhere

AGE\t\tAge
000\t\tLess than 1 year old
001\t\t1
002\t\t2
130\t\t130

INCWAGE\t\tWage and salary income
 INCWAGE reports the pre-tax wage of the year before.
 5001 = 5001 or more (top code)
 999998 = Missing

RENT\t\tMonthly rent
9998\t\tNo cash rent
9999\t\tMissing
"""
SPECS = {
    "SEX": {"type": "enum", "maxval": 2},
    "CITY": {"type": "enum", "maxval": 9999},
    "AGE": {"type": "enum", "maxval": 108},
    "INCWAGE": {"type": "enum", "maxval": 999_998},
    "RENT": {"type": "enum", "maxval": 9999},
    "OTHER": {"type": "enum", "maxval": 17_703},
}


def there_and_back(schema, table):
    """The table encoded and decoded without any noise."""
    codec = Codec(schema)
    codes = codec.encode(table).codes
    back = codec.decode(codes, rng=np.random.default_rng(0))
    assert (codec.encode(back).codes == codes).all()
    return back


def census(n, cities, seed=0):
    """A table of city, sex and wage codes like the challenge's."""
    rng = np.random.default_rng(seed)
    known = rng.choice(9999, cities, replace=False)
    city = rng.integers(0, cities, n)
    wage = np.rint(np.exp(6.6 + 0.4 * np.sin(city) + 0.7 * rng.standard_normal(n)))
    wage = np.select([rng.random(n) < 0.35, rng.random(n) < 0.25], [0, 999_998], np.minimum(wage, 5001))
    return pa.table({"CITY": known[city], "SEX": rng.integers(1, 3, n), "INCWAGE": wage.astype(np.int64)})


def test_codes_of_any_size_come_back_as_they_were():
    specs = {"CITY": SPECS["CITY"], "OTHER": SPECS["OTHER"], "LARGE": {"type": "enum", "maxval": 65_534}}
    schema = import_maxima(specs)
    assert schema.domain().sizes == (10_000, 17_704, 65_535)
    table = pa.table({n: np.random.default_rng(i).integers(0, s["maxval"] + 1, 4000) for i, (n, s) in
                      enumerate(specs.items())})  # fmt: skip
    assert there_and_back(schema, table).equals(table)
    assert binned(schema) == []


def test_larger_enumerations_are_numbers_without_a_codebook_and_lists_with_one():
    """The default method keeps values in 16 bits: a list of 90,022 codes would be refused by it."""
    specs = {"BPLD": {"type": "enum", "maxval": 90_021}}
    alone = import_maxima(specs)
    assert alone["BPLD"].kind == "numeric" and alone["BPLD"].special_values == (90_021,)
    assert len(binned(alone)) == 1
    book = parse_codebook("BPLD\t\tBirthplace\n00100\t\tAlabama\n45300\t\tGermany\n90021\t\tAfrica, ns\n")
    assert import_maxima(specs, book)["BPLD"].values == (100, 45_300, 90_021)


def test_zero_wages_and_missing_wages_come_back_and_the_income_score_stays():
    """Before, one bin of 1,000 dollars held them: .1 % of each came back, and the score was 840,609."""
    table = census(120_000, 1162)
    schema = import_maxima({n: SPECS[n] for n in table.column_names})
    back = there_and_back(schema, table)
    for code in (0, 999_998):
        here = np.asarray(table["INCWAGE"]) == code
        assert (np.asarray(back["INCWAGE"])[here] == code).all() and here.any()
    assert back["CITY"].equals(table["CITY"]) and back["SEX"].equals(table["SEX"])
    score = compute(compare_tables(schema, back, table), ["nist-income"])["nist-income"]
    assert score.value > 999_000 and score.details["strict"] > 999_000


def test_what_is_binned_is_said():
    (said,) = binned(import_maxima(SPECS))
    assert said == "'INCWAGE' from 0 to 999997 is binned into 1701 cells; 0, 999998 alone"
    (said,) = binned(import_parameters({"schema": {"a": {"kind": "numeric", "dtype": "float", "min": 0, "max": 1}}}))
    assert said == "'a' from 0 to 1 is binned into 640 cells"


def test_bins_of_whole_numbers_are_single_near_zero_and_one_per_cent_wide_beyond():
    assert fine_bins(0, 999) == {"count": 1000} and fine_bins(-7, 5) == {"count": 13}
    starts = np.array(fine_bins(0, 10**6)["edges"])
    assert (starts[:1001] == np.arange(1001)).all()
    widths = np.diff(starts)[1001:]
    assert (widths <= 0.01 * starts[1001:-1]).all() and (widths >= 10).all()
    mirrored = np.array(fine_bins(-(10**6), 0)["edges"])
    assert (np.sort(1 - starts[1:]) == mirrored).all() or set(1 - starts[2:]) <= set(mirrored) | {-(10**6)}
    schema = import_parameters({"schema": {"a": {"kind": "numeric", "dtype": "int", "min": -5000, "max": 1001}}})
    table = pa.table({"a": np.arange(-5000, 1002)})
    there_and_back(schema, table)


def test_the_codebook_leaves_the_codes_that_both_list_and_gives_them_words():
    schema = import_maxima(SPECS, parse_codebook(BOOK))
    assert schema["SEX"].values == (1, 2) and schema["SEX"].labels() == ["Male", "Female"]
    assert schema["CITY"].values == (0, 1710, 9990) and not schema["CITY"].ordered
    assert schema["AGE"].values == (0, 1, 2) and schema["AGE"].ordered  # 130 is beyond the specification
    assert schema["SEX"].description == "Sex"
    assert schema["OTHER"].size == 17_704  # the codebook is silent about it


def test_numbers_keep_zero_and_special_and_top_codes_in_cells_of_their_own():
    schema = import_maxima(SPECS, parse_codebook(BOOK))
    wage, rent = schema["INCWAGE"], schema["RENT"]
    assert (wage.min, wage.max, wage.special_values) == (0, 5000, (5001, 999_998))
    assert (rent.min, rent.max, rent.special_values) == (0, 9997, (9998, 9999))
    assert rent.labels()[0] == "0" and rent.labels()[-2:] == ["9998", "9999"]
    table = pa.table({"INCWAGE": [0, 5001, 999_998, 1, 1000]})
    only = Schema.of({"version": 1, "name": "w", "attributes": [wage.document()]})
    assert there_and_back(only, table).equals(table)
    assert [said.split()[0] for said in binned(schema)] == ["'INCWAGE'", "'RENT'"]


def test_the_specification_can_be_written_again():
    assert export_maxima(import_maxima(SPECS, parse_codebook(BOOK))) == SPECS
    other = Schema.of({"version": 1, "name": "x", "attributes": [{"name": "a", "kind": "categorical", "values": [1]}]})
    with pytest.raises(SchemaError, match="'a' was not imported"):
        export_maxima(other)


def test_parameters_with_a_codebook_lose_nothing_either():
    document = {
        "schema": {
            "SEX": {"dtype": "uint8", "kind": "categorical", "values": [0, 1, 2]},
            "INCWAGE": {"dtype": "int", "kind": "numeric", "min": 0, "max": 999_998},
            "HOURS": {"dtype": "int", "kind": "numeric", "min": 0, "max": 98, "special_values": [99], "bins": 7},
        },
        "runs": [],
    }
    schema = import_parameters(document, None, parse_codebook(BOOK))
    assert schema["SEX"].values == (1, 2) and schema["SEX"].labels()[:2] == ["Male", "Female"]
    assert schema["INCWAGE"].special_values == (5001, 999_998)
    assert schema["HOURS"].special_values == (99,) and schema["HOURS"].bins.count == 7
    assert export_parameters(schema) == document


def test_the_bundled_people_in_codes_fit_their_imported_specification():
    schema, table = coded_schema(), coded_sample()
    back = there_and_back(schema, table)
    for name in table.column_names:
        if name != "INCWAGE":
            assert back[name].cast(pa.int64()).equals(pa.chunked_array([np.asarray(table[name]).astype(np.int64)]))
    assert schema["SEX"].labels() == ["Male", "Female"] and schema["CITY"].labels()[0] == "Ashford"
    assert schema.domain().names == tuple(sample_table().column_names)
    score = compute(compare_tables(schema, back, table), ["nist-income"])["nist-income"]
    assert score.value > 999_900 and score.details["strict"] > 999_900


def test_words_become_codes_and_unknown_words_are_refused_without_showing_them():
    book = parse_codebook(BOOK)
    table = pa.table({"SEX": ["Female", "1", None], "x": ["a", "b", "c"]})
    assert in_codes(table, book).to_pydict() == {"SEX": [2, 1, None], "x": ["a", "b", "c"]}
    with pytest.raises(SchemaError, match="'SEX'") as error:
        in_codes(pa.table({"SEX": ["secret"]}), book)
    assert "secret" not in str(error.value)


def test_the_command_reads_specification_and_codebook_and_says_what_it_bins(tmp_path, capsys):
    out = tmp_path / "s.json"
    assert main(["schema", "import", str(SPECIFICATION), "--codebook", str(CODEBOOK), "-o", str(out)]) == 0
    assert "note: 'INCWAGE' from 0 to 5000 is binned into 1167 cells; 0, 5001, 999998 alone" in capsys.readouterr().out
    assert Schema.load(out).attributes == coded_schema().attributes


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"type": "enum", "maxval": -1}, "'a'"),
        ({"type": "text", "maxval": 3}, "'a'"),
        ({"type": "enum", "maxval": 2.5}, "'a'"),
        ({"type": "integer", "min": 5, "maxval": 3}, "'a'"),
    ],
)
def test_entries_that_are_no_limits_are_named(entry, words):
    with pytest.raises(SchemaError, match=words):
        import_maxima({"a": entry})


def test_other_types_of_a_specification_are_ranges():
    schema = import_maxima(
        {"n": {"type": "integer", "min": 3, "max": 9, "optional": True}, "x": {"type": "float", "min": 0, "max": 2.5}}
    )
    assert (schema["n"].size, schema["n"].missing) == (8, True)
    assert schema["x"].dtype == "float" and schema["x"].bins is None


def test_a_codebook_that_is_none_or_of_another_extract_is_refused(tmp_path):
    path = tmp_path / "codebook.cbk"
    path.write_text("nothing here\n")
    with pytest.raises(SchemaError, match="no codebook"):
        read_codebook(path)
    with pytest.raises(SchemaError, match=r"none\.cbk"):
        read_codebook(tmp_path / "none.cbk")
    with pytest.raises(SchemaError, match="describes no column"):
        import_maxima({"a": {"type": "enum", "maxval": 3}}, parse_codebook(BOOK))
    path.write_text(BOOK, encoding="utf-8")
    own = tmp_path / "own.json"
    coded_schema().dump(own)
    with pytest.raises(SchemaError, match="labels of its own"):
        import_file(own, codebook=path)
