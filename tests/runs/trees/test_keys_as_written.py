"""Keys match as text and as numbers, by a rule of the cell alone."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.reference import fresh_tables
from dpsyn_core.runs.trees.rule_breaks import broken_roots
from tests.runs.trees.small import SCHEMAS

WAYS = {
    "text": pa.array(["1", "2", "3"]),
    "whole numbers": pa.array([1, 2, 3]),
    "floats": pa.array([1.0, 2.0, 3.0]),
    "text of floats": pa.array(["1.0", "2.0", "3.0"]),
    "text of decimals": pa.array(["1.00", "2.00", "3.00"]),
    "decimals": pa.array(["1.00", "2.00", "3.00"]).cast(pa.decimal128(5, 2)),
}


def family(roots, children):
    """Three roots and a child of each, with keys of two kinds."""
    return {
        "roots": pa.table({"id": roots, "a": ["0", "1", "0"]}),
        "kids": pa.table({"root": children, "r": ["0", "1", "2"], "t": ["1", "2", "3"]}),
    }


@pytest.mark.parametrize("roots", WAYS)
@pytest.mark.parametrize("children", WAYS)
def test_a_child_finds_its_parent_however_the_two_keys_are_typed(roots, children):
    tables = family(WAYS[roots], WAYS[children])
    forest, left = bounded(SCHEMAS["plain"], tables)
    assert forest.children[0].counts.tolist() == [1, 1, 1] and not any(out.any for out in left)
    fresh = fresh_tables(SCHEMAS["plain"], tables, np.random.default_rng(1))
    assert fresh["kids"].num_rows == fresh["roots"].num_rows == 2
    assert sum(b.parents for b in broken_roots(SCHEMAS["ruled"], tables)) > 0
    assert {b.of for b in broken_roots(SCHEMAS["ruled"], tables)} == {3}


@pytest.mark.parametrize("other", ["01", "1.5", "-1", "1.0a", "1,0", "+1.0", "1e0", "01.0"])
def test_other_spellings_are_other_keys(other):
    tables = family(pa.array(["1", "2", "3"]), pa.array([other, "2", "3"]))
    _, left = bounded(SCHEMAS["plain"], tables)
    assert left[1].orphans == 1


def test_two_spellings_of_one_key_are_one_root():
    tables = family(pa.array(["1", "1.0", "3"]), pa.array(["1", "1.0", "3"]))
    forest, left = bounded(SCHEMAS["plain"], tables)
    assert left[0].repeated == 1 and sorted(forest.children[0].counts.tolist()) == [1, 2]


def test_what_a_key_is_does_not_depend_on_other_cells():
    with_text = family(pa.array(["1.0", "2.0", "x"]), pa.array(["1", "2", "x"]))
    forest, left = bounded(SCHEMAS["plain"], with_text)
    assert forest.children[0].counts.tolist() == [1, 1, 1] and not any(out.any for out in left)


def test_a_root_without_a_key_does_not_shift_what_rules_are_counted_of():
    tables = {
        "roots": pa.table({"id": ["", "1", "2"], "a": ["0", "1", "0"]}),
        "kids": pa.table({"root": ["1", "2", "2"], "r": ["0", "1", "2"], "t": ["1", "2", "3"]}),
    }
    whole = {"roots": tables["roots"].slice(1), "kids": tables["kids"]}
    assert broken_roots(SCHEMAS["ruled"], tables) == broken_roots(SCHEMAS["ruled"], whole)


def test_a_column_of_keys_that_is_missing_is_named_with_its_table():
    tables = family(WAYS["text"], WAYS["text"])
    with pytest.raises(TableError, match="table 'kids': the table lacks the column 'root'"):
        bounded(SCHEMAS["plain"], tables | {"kids": tables["kids"].drop_columns("root")})
