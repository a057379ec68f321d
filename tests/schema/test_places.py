"""Cells of a text file that all have as many decimals are given back with as many."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.write import csv_bytes

PRICES = [f"{n // 100}.{n % 100:02d}" for n in range(1000, 5000, 7)]
SIZES = ["1.50", "2.25", "3.00"]  # few: a list, and not a range
AMOUNTS = [f"{n}.00" for n in range(100, 700)]


@pytest.mark.parametrize(
    ("cells", "places"),
    [
        (PRICES, 2),
        (AMOUNTS, 2),
        ([p.replace("10.00", "10.0") for p in PRICES], None),  # one cell has another number of them
        ([p for p in PRICES if not p.endswith("0")], None),  # 12.5 would have been written so
        ([*PRICES, "40"], None),
        (SIZES * 50, 2),
        (["1.00", "2.00", "3.00"] * 50, 2),
        ([*SIZES, "3"] * 50, None),
        ([f"{p}0000" for p in PRICES], 6),  # the most that a draft reads from cells
        ([f"{p}00000" for p in PRICES], None),
    ],
)
def test_a_draft_sees_how_many_decimals_all_cells_have(cells, places):
    (attribute,) = draft(pa.table({"x": cells}), "t").attributes
    assert attribute.places == places


def test_a_text_file_has_as_many_decimals():
    table = pa.table({"x": PRICES, "plain": [str(n / 4) for n in range(len(PRICES))]})
    codec = Codec(draft(table, "t"))
    lines = csv_bytes(codec.decode(codec.encode(table).codes, rng=np.random.default_rng(0))).decode().splitlines()
    cells = [line.split(",") for line in lines[1:]]
    assert all(len(x.partition(".")[2]) == 2 for x, _ in cells) and any(x.endswith("0") for x, _ in cells)
    assert not any(plain.endswith("00") for _, plain in cells)


def test_a_decimal_comma_has_as_many(tmp_path):
    (tmp_path / "t.csv").write_text("a;x\n" + "".join(f"k;{p.replace('.', ',')}\n" for p in PRICES), encoding="utf-8")
    table = read_table(tmp_path / "t.csv")
    codec = Codec(draft(table, "t"))
    lines = csv_bytes(codec.decode(codec.encode(table).codes, rng=np.random.default_rng(0))).decode().splitlines()
    assert all(len(line.partition(",")[2]) == 2 for line in lines[1:])


@pytest.mark.parametrize("cells", [SIZES, ["1.00", "2.00", "3.00"]])
def test_a_list_of_numbers_has_as_many_decimals_beside_amounts_with_a_comma(cells):
    table = pa.table({"x": cells * 50, "paid": ["€ 3,50", "€ 4,25", "€ 1,00"] * 50})
    codec = Codec(draft(table, "t"))
    made = csv_bytes(codec.decode(codec.encode(table).codes, rng=np.random.default_rng(0))).decode()
    assert [line.partition(",")[0] for line in made.splitlines()[1:]] == cells * 50


def test_a_list_of_whole_numbers_or_words_has_no_decimals():
    for values in ([1, 2], ["a", "b"]):
        attribute = {"name": "n", "kind": "categorical", "values": values, "places": 2}
        with pytest.raises(SchemaError, match="the values have none"):
            Schema.of({"version": 1, "name": "t", "attributes": [attribute]})


def test_a_column_of_whole_numbers_has_no_decimals():
    attribute = {"name": "n", "kind": "numeric", "dtype": "integer", "min": 0, "max": 9, "places": 2}
    with pytest.raises(SchemaError, match="whole numbers"):
        Schema.of({"version": 1, "name": "t", "attributes": [attribute]})
