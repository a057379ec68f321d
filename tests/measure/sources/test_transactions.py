"""Transactions: which columns are items, and how much memory their bits need."""

import pyarrow as pa
import pytest

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.measure.sources.memory import MemorySource
from dpsyn_core.measure.sources.transactions import HELD, from_lines, from_source, from_table, item_rows, items_text
from dpsyn_core.schema.document import Schema
from tests.schema.helpers import cat


def schema(items=8, others=()):
    attributes = [cat(f"i{i}", ["no", "yes"]) for i in range(items)] + list(others)
    return Schema.of({"version": 1, "name": "baskets", "attributes": attributes})


def table(n=40, items=8):
    return pa.table({f"i{i}": ["yes" if r % (i + 2) == 0 else "no" for r in range(n)] for i in range(items)})


def test_the_bits_of_all_items_fit_the_memory_to_the_byte():
    need = HELD * 8 * 40 // 8
    assert from_source(MemorySource(table()), schema(), memory=need).items == tuple(f"i{i}" for i in range(8))
    with pytest.raises(SizeError, match="the bits of 8 items"):
        from_source(MemorySource(table()), schema(), memory=need - 1)


def test_the_second_value_of_two_means_present():
    found = from_table(table(), schema())
    counts = [sum(r % (i + 2) == 0 for r in range(40)) for i in range(8)]
    assert found.counter.n_records == 40
    assert found.counter.item_counts().tolist() == counts


def test_items_are_the_attributes_of_two_values_besides_blank_ones():
    more = [cat("three", ["a", "b", "c"]), cat("blank", ["a", "b"], missing=True), cat("one", ["a"], missing=True)]
    assert item_rows(schema(2, more)) == [0, 1, 3]
    with pytest.raises(SettingError, match="exactly two values"):
        item_rows(schema(0, more[:1]))


def test_a_line_is_a_transaction_of_the_items_that_it_names(tmp_path):
    (tmp_path / "items").write_text("milk\nbread\ntea\n")
    (tmp_path / "lines").write_text("milk bread\ntea\n\nmilk\n")
    found = from_lines(tmp_path / "lines", tmp_path / "items")
    assert items_text(found.items) == "milk\nbread\ntea"
    assert found.counter.item_counts().tolist() == [2, 1, 1]
    assert found.counter.pair_counts([0, 1, 2]).tolist() == [1, 0, 0] and found.unit.max_records == 1
