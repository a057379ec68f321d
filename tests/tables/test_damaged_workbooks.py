"""Workbooks that were damaged at random, or that hide a sheet: read, or refused in one sentence."""

import io
import random
import tracemalloc
import warnings
import zipfile

import pytest
from openpyxl import Workbook

from dpsyn_core.errors import TableError
from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.read_form import ReadForm
from tests.app.hostile_files import ROWS, book


def damaged(raw, rng):
    """The workbook with some bytes of one of its parts changed, lost or repeated."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(out, "w") as new:
        hit = rng.choice(old.namelist())
        for name in old.namelist():
            part = bytearray(old.read(name))
            for _ in range(rng.choice([1, 3, 10]) if name == hit else 0):
                at = rng.randrange(len(part))
                part[at : at + rng.randrange(9)] = rng.choice([b"", b"<>&", rng.randbytes(4), part[:20]])
            new.writestr(name, bytes(part))
    return out.getvalue()


def torn(raw, rng):
    """The bytes of the workbook with one of them changed."""
    at = rng.randrange(len(raw))
    return raw[:at] + bytes([raw[at] ^ 255]) + raw[at + 1 :]


@pytest.mark.parametrize("damage", [damaged, torn])
def test_a_damaged_workbook_is_read_or_refused_in_a_sentence(damage):
    rng, whole, refusals = random.Random(1), book(ROWS, ROWS), 0
    for _ in range(120):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                open_table(damage(whole, rng), name="x.xlsx").whole()
        except TableError:
            refusals += 1
    assert refusals


def test_the_first_sheet_that_is_shown_is_read_unless_another_is_named():
    raw = book([["secret", "x"], [1, 1]], ROWS, hide=(0,), chart=True)
    found = open_table(raw, name="x.xlsx")
    assert found.columns == ("age", "town") and "'s1', one of 3; the others are 'chart', 's0'" in str(found.notices[0])
    assert found.sheets == ("chart", "s0", "s1")
    assert open_table(raw, ReadForm(sheet="s0"), name="x.xlsx").columns == ("secret", "x")


def test_a_cell_far_away_makes_no_wide_sheet():
    """One cell in the last row and column made a million rows of 16,384 cells each."""
    book = Workbook()
    page = book.active
    for row in (["a", "b"], [1, "x"], [None, "y"]):
        page.append(row)
    page.cell(2**20, 2**14, "far")
    raw = io.BytesIO()
    book.save(raw)
    tracemalloc.start()
    table = open_table(raw.getvalue(), ReadForm()).whole()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.to_pydict() == {"a": ["1", "", ""], "b": ["x", "y", ""]}
    assert peak < 300 << 20


@pytest.mark.parametrize("records", [0, 1])
def test_a_sheet_of_headers_alone_is_a_table_without_records(tmp_path, records):
    whole = Workbook()
    for row in (("a", "b", "c"), (1, None, "x"))[: 1 + records]:
        whole.active.append(row)
    whole.save(tmp_path / "t.xlsx")
    found = open_table(tmp_path / "t.xlsx").whole()
    assert found.column_names == ["a", "b", "c"] and found.num_rows == records
