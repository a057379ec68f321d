"""Numbers with currencies, units, percent signs and marks between thousands: declared, read, written, recognised."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.schema.misfit import misfits
from dpsyn_core.tables.cells import amounts
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.write import escape
from tests.schema.helpers import num, schema

N = 90


def recognised(*cells):
    found = amounts.recognised(pa.array(cells))
    return None if found is None else found.example()


@pytest.mark.parametrize(
    "example",
    [
        "$1,234.56",
        "12.5 %",
        "1.234,5 €",
        "1 234,5",
        "CHF 1'234.50",
        "12%",
        "12 kg",
        "12,56",
        "0,567",
        "12,34,567.89",
        "(1,234.56)",
        "$-12.5",
        "12-",
        "\u221212 %",
        "CHF 12-",
        "1\u202f234,5\u00a0€",
    ],
)
def test_an_example_declares_a_form_and_the_form_writes_an_example_that_declares_it(example):
    form = amounts.form(example)
    assert amounts.form(form.example()) == form


@pytest.mark.parametrize("example", ["", "abc", "1.2.3", "=1", "$", "1,2,3", "-5", "+5", "5|6", "=SUM(1)", "'5"])
def test_what_shows_no_number_is_refused_with_what_would(example):
    with pytest.raises(SchemaError, match="does not show how numbers are written"):
        amounts.form(example)


def test_a_cell_is_read_as_the_example_says_and_anything_else_stays_what_it_is():
    form = amounts.form("$1,234.56")
    cells = ["$1,234.56", "1,234", "12", "-$5.5", "$-5.5", "($7.25)", "5-", "'-$5.50", "1e-07", "true",
             "1,23", "1.234,5", "($5", "", "$", "-", "12 %"]  # fmt: skip
    read = amounts.plain(pa.array(cells), form).to_pylist()
    assert read[:8] == ["1234.56", "1234", "12", "-5.5", "-5.5", "-7.25", "-5", "-5.50"]
    assert read[8:] == cells[8:]
    assert amounts.plain(pa.array(["1.234", "12.5", "1.234.567,8 €"]), amounts.form("1.234,5 €")).to_pylist() == [
        "1234", "12.5", "1234567.8",
    ]  # fmt: skip


def test_numbers_are_written_with_all_their_marks_and_no_spreadsheet_runs_them():
    values = np.array([-1234567.891, 0.004, 12, 1000, 999.999, -0.001, 5])
    mask = np.arange(7) == 6
    text = amounts.written(values, amounts.form("$1,234.56"), mask)
    assert text.to_pylist() == ["-$1,234,567.89", "$0.00", "$12.00", "$1,000.00", "$1,000.00", "$0.00", None]
    whole = amounts.written(np.array([1_234_567, -12, 1_000_005]), amounts.form("1.234 €"), None)
    assert whole.to_pylist() == ["1.234.567 €", "-12 €", "1.000.005 €"]
    kept = escape(pa.table({"a": ["-$5.50", "-12 %", "-1+cmd", "+A1", "=1"]}))
    assert kept["a"].to_pylist() == ["-$5.50", "-12 %", "'-1+cmd", "'+A1", "'=1"]


@pytest.mark.parametrize(
    ("cells", "example"),
    [
        (("$1,234.56", "$12.00", "-$5.50", "($7.25)"), "$1,234.56"),
        (("12 %", "1.5 %", "0%"), "12.5 %"),
        (("1.234,56 €", "12,00 €"), "1.234,56 €"),
        (("1.250 €", "999 €", "12.500 €"), "1.234 €"),
        (("1,234", "567", "1,234,567"), "1,234"),
        (("12 kg", "3.5 kg"), "12.5 kg"),
        (("12,5", "3,25"), "12,56"),
        (("0,592", "12,125"), "0,567"),
        (("₹12,34,567", "₹999", "₹1,23,456"), "₹12,34,567"),
        (("12,34,567.5", "1,234"), "12,34,567.5"),
        (("12,34,567", "1,234,567"), None),
        (("(504.25)", "82183.50", "(3.00)"), "(12.56)"),
        (("$-5", "$12"), "$-12"),
        (("5-", "82183", "7-"), "12-"),
        (("\u22125.5", "12.5"), "\u221212.5"),
        (("12 345\u202f€", "9 999\u202f€"), "1 234\u202f€"),
        (("1\u202f234,5", "12"), "1\u202f234,5"),
        (("1’234,50", "12,00"), "1’234,56"),
        ((*(f"{i}.{500 + i} %" for i in range(1, 60)), "504 %"), "1.234 %"),
        (("12.5", "3"), None),
        (("A12", "A13"), None),
        (("007 €", "008 €"), None),
        (("20240131x", "20240201x"), None),
        (("3rd", "4th"), None),
        (("5'10", "6'1"), None),
        (("10:30", "11:45"), "12:34"),
        (("192.168.1.1", "10.0.0.1"), None),
        (("$1.5K", "$2M"), None),
        (("+49 30 1234", "+49 40 2345"), None),
    ],
)
def test_a_column_is_taken_for_amounts_only_where_every_cell_is_one(cells, example):
    assert recognised(*cells) == example


def test_amounts_are_drafted_read_and_come_back_as_they_were_written():
    rng = np.random.default_rng(0)
    table = pa.table({
        "price": [f"${v:,.2f}" for v in rng.gamma(2, 2000, N)],
        "share": [f"{v:.1f} %" for v in rng.random(N) * 100],
        "people": [f"{v:,}" for v in rng.integers(0, 10**7, N)],
    })  # fmt: skip
    drafted = draft(table, "t")
    assert [a.written for a in drafted.attributes] == ["$1,234.56", "12.5 %", "1,234"]
    assert [a.dtype for a in drafted.attributes] == ["float", "float", "integer"]
    codec = Codec(drafted)
    codes = codec.encode(table).codes
    back = codec.decode(codes, rng=np.random.default_rng(1))
    assert (codec.encode(back).codes == codes).all()
    assert back["price"][0].as_py().startswith("$") and back["share"][0].as_py().endswith(" %")


def test_a_typed_number_is_read_as_its_text_would_be():
    attribute = schema(num("a", 0, 10_000, 100, dtype="float", written="$1,234.56", missing=True))
    values = [1.5, 999.25, 1234.0, 5.0]
    typed = Codec(attribute).encode(pa.table({"a": values})).codes
    text = Codec(attribute).encode(pa.table({"a": [repr(v) for v in values]})).codes
    marked = Codec(attribute).encode(pa.table({"a": [f"${v:,.2f}" for v in values]})).codes
    assert (typed == text).all() and (typed == marked).all()


def test_the_owner_is_told_that_cells_which_do_not_fit_are_amounts():
    table = pa.table({"a": [f"${v:,}" for v in range(1000, 1030)]})
    [found] = misfits(schema(num("a", 0, 5000, 10, missing=True)), table)
    assert "declare how its numbers are written" in found.sentence()


@pytest.mark.parametrize("dtype", ["integer", "float"])
def test_a_schema_whose_example_shows_no_number_is_refused(dtype):
    with pytest.raises(SchemaError, match="does not show how numbers are written"):
        schema(num("a", 0, 9, 10, dtype=dtype, written="<b>€</b> 1,234"))


def test_a_form_with_digits_does_not_fit_whole_numbers():
    with pytest.raises(SchemaError, match="has digits after the mark"):
        schema(num("a", 0, 9, 10, dtype="integer", written="$1.25"))


def test_a_dash_in_place_of_cents_is_no_minus():
    cells = pa.array(["€ 1.200,-", "€ 12,50", "999,--", "€ 3,–", "-€ 4,-", "€ 1.234,56-"])
    form = amounts.recognised(cells)
    assert form.example() == "€ 1.234,56"
    assert amounts.plain(cells, form).to_pylist() == ["1200", "12.50", "999", "3", "-4", "-1234.56"]
    swiss = amounts.form("CHF 1'234.50")
    assert amounts.plain(pa.array(["CHF 1'200.-", "CHF 1'200.50-"]), swiss).to_pylist() == ["1200", "-1200.50"]


SPACE = ("", " ", "\u00a0", "\u202f")
MARKS = [(g, m) for g in ("", ",", ".", "'", "’", *SPACE[1:], ",,") for m in ".," if m not in g]


@settings(max_examples=400, deadline=None)
@given(
    prefix=st.builds(str.__add__, st.sampled_from(["$", "€", "CHF", "₹", "Rs"]), st.sampled_from(SPACE)) | st.just(""),
    suffix=st.builds(str.__add__, st.sampled_from(SPACE), st.sampled_from(["€", "%", "kg", "kr", "°"])) | st.just(""),
    marks=st.sampled_from(MARKS),
    digits=st.integers(0, amounts.SEEN),
    minus=st.sampled_from(amounts.MINUSES),
    values=st.lists(st.floats(-1e7, 1e7), min_size=25, max_size=60),
)
def test_every_form_reads_what_it_writes_and_the_form_that_is_recognised_writes_it_again(
    prefix, suffix, marks, digits, minus, values
):
    group, mark = marks
    minus = (minus[1], "", "") if minus[1] and not prefix else minus
    form = amounts.AmountFormat(
        prefix=prefix, suffix=suffix, group=group[:1], mark=mark, digits=digits, pairs=len(group) > 1, minus=minus
    )

    def shown(numbers, how):
        made = amounts.written(np.array(numbers), how, None)
        if pa.types.is_string(made.type):
            return made
        return pa.array(
            [f"{v:.{how.digits}f}".replace(".", how.mark) for v in made.to_pylist()]
        )  # as a CSV file has it

    cells = shown(values, form)
    read = [float(t) for t in amounts.plain(cells, form).to_pylist()]
    assert np.allclose(read, values, rtol=1e-9, atol=0.51 * 10.0**-digits)
    if digits:
        assert amounts.form(form.example()) == form
    found = amounts.recognised(pa.array(sorted(set(cells.to_pylist()))))
    if found is None:  # only plain numbers are in no form
        assert not (prefix or suffix or (digits and mark == ",")) and (not group or max(map(abs, read)) < 1000)
        assert minus in (amounts.MINUS, form.minus if min(read) >= 0 else None)
        return
    assert amounts.form(found.example()) == found
    assert [float(t) for t in amounts.plain(cells, found).to_pylist()] == read
    assert shown(read, found).to_pylist() == cells.to_pylist()


@pytest.mark.parametrize("digits", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("mark", [",", "."])
def test_decimals_of_a_file_with_semicolons_are_drafted_as_they_are_read(tmp_path, digits, mark):
    rng = np.random.default_rng(digits)
    values = np.round(rng.random(N) * 40, digits)
    shown = [f"{v:.{digits}f}".replace(".", mark) for v in values]
    (tmp_path / "t.csv").write_text("x;y\n" + "".join(f"{x};a\n" for x in shown), encoding="utf-8")
    table = read_table(tmp_path / "t.csv")
    drafted = draft(table, "t")["x"]
    read, valid = drafted.read(table["x"], comma=True)
    assert valid.all() and np.allclose(read, values)
    assert (drafted.min, drafted.max) == (values.min(), values.max())


@pytest.mark.parametrize("kind", [np.float64, np.int64])
@pytest.mark.parametrize(
    ("example", "digits", "group"), [("$1,234.56", 2, ","), ("$1,234", 0, ","), ("$12.5", 1, ""), ("1 234 kg", 0, " ")]
)
def test_numbers_are_written_as_python_formats_them(kind, example, digits, group):
    form = amounts.form(example)
    values = np.array([0, 5, 12, 999, 1000, 1001, 20_030, 999_999, 1_000_000, 7_000_000_001, -4, -1000, -50_006], kind)
    if kind is np.float64:
        values = np.append(values, [0.25, 999.5, -1000.75, 0.125])
    wanted = []
    for value in values.tolist():
        shown = abs(round(value * 10**digits)) / 10**digits
        text = f"{shown:,.{digits}f}".replace(",", group)
        text = f"${text}" if example.startswith("$") else f"{text} kg"
        wanted.append(f"-{text}" if value < 0 and shown else text)
    found = amounts.written(values, form, None).to_pylist()
    assert [t.replace("\u00a0", " ") for t in found] == wanted
