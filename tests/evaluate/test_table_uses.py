"""What a table is good for: from the one list of findings, so that the sentence and the figures never disagree."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.evaluate import compare_tables, group_gaps, uses, verdict
from dpsyn_core.report import uses_words
from dpsyn_core.schema import Schema
from dpsyn_core.schema.sample import sample_schema, sample_table

HALF = 6_000


@pytest.fixture(scope="module")
def halves():
    whole = sample_table()
    order = np.random.default_rng(5).permutation(whole.num_rows)
    return whole.take(order[:HALF]), whole.take(order[HALF : 2 * HALF])


def compared(real, made):
    return compare_tables(sample_schema(), made, real)


def shuffled(table):
    rng = np.random.default_rng(1)
    columns = [c.take(pa.array(rng.permutation(table.num_rows))) for c in table.columns]
    return pa.table(columns, names=table.column_names)


def test_a_fresh_sample_is_good_for_counts_relations_and_gaps(halves):
    c = compared(*halves)
    found = uses(c)
    assert {"counts", "pairs", "gaps"} <= set(found.good) and not {use for use, _ in found.bad} & set(found.good)
    assert group_gaps(c).grade == "kept"
    assert uses_words(found).startswith("Good for counts of single columns")


def test_unrelated_columns_are_good_for_counts_alone_and_their_gaps_are_lost(halves):
    c = compared(halves[0], shuffled(halves[1]))
    found = uses(c)
    bad = dict(found.bad)
    assert "counts" in found.good and {"pairs", "gaps"} <= set(bad)
    assert group_gaps(c).grade == "lost"
    assert "not for" in uses_words(found) and len(uses_words(found)) < 240


def test_values_that_moved_inside_one_bin_speak_against_counts_and_not_against_means(halves):
    real, made = halves
    weeks = np.asarray(made["WKSWORK"]).astype(int)
    moved = pa.array(np.where(weeks > 50, 50 + np.arange(HALF) % 3, weeks)).cast(made["WKSWORK"].type)
    place = made.column_names.index("WKSWORK")
    found = uses(compared(real, made.set_column(place, "WKSWORK", moved)))
    assert ("counts", ("WKSWORK",)) in found.bad and "means" in found.good


def test_a_copy_is_good_for_nothing(halves):
    c = compared(halves[0], halves[0])
    assert verdict(c).alarm is not None and uses(c).good == ()


def test_every_use_that_something_speaks_against_names_a_finding_of_the_list(halves):
    c = compared(halves[0], shuffled(halves[1]))
    listed = {f.columns for f in verdict(c).findings}
    assert all(not columns or columns in listed for use, columns in uses(c).bad if use != "gaps")


def test_gaps_of_a_number_by_groups_stand_where_no_income_is_named():
    rng = np.random.default_rng(2)
    side = rng.integers(0, 3, 4_000)
    real = pa.table(
        {"kind": pa.array(np.array(list("abc"))[side]), "warmth": pa.array(side * 10.0 + rng.normal(0, 2, 4_000))}
    )
    schema = Schema.of({
        "version": 1, "name": "t", "attributes": [
            {"name": "kind", "kind": "categorical", "values": ["a", "b", "c"]},
            {"name": "warmth", "kind": "numeric", "dtype": "float", "min": -20, "max": 50, "bins": {"count": 70}},
        ],
    })  # fmt: skip
    other = real.take(rng.permutation(4_000)[:2_000])
    assert group_gaps(compare_tables(schema, other, real)).grade == "kept"
    lost = group_gaps(compare_tables(schema, shuffled(real), real))
    assert (lost.grade, lost.column, lost.by, lost.between) == ("lost", "warmth", "kind", "")
    assert lost.real == pytest.approx((0, 10, 20), abs=1) and all(abs(x - 10) < 2 for x in lost.synthetic)


def test_a_rare_value_that_is_gone_speaks_against_some_values_and_not_all_counts(halves):
    real, made = halves
    column = made.column("EDUC").to_pylist()
    values, counts = np.unique(column, return_counts=True)
    rare = next(v for v, k in sorted(zip(values, counts, strict=True), key=lambda x: x[1]) if k > 30)
    common = values[counts.argmax()]
    kept = pa.array([common if v == rare else v for v in column])
    c = compared(real, made.set_column(made.column_names.index("EDUC"), "EDUC", kept))
    gone = next(f for f in verdict(c).findings if f.columns == ("EDUC",))
    assert gone.key == "share" and gone.synthetic == 0 and gone.real < 0.02
    found = uses(c)
    assert "counts" in found.good and ("values", ("EDUC",)) in found.bad
    assert "not for counts of some values (EDUC)" in uses_words(found)


def test_the_gap_that_is_shown_is_one_of_which_a_mean_moved():
    """Pay differs more by grade than by site, and one site's pay is far off."""
    schema = Schema.of({"version": 1, "name": "pay", "attributes": [
        {"name": "grade", "kind": "categorical", "values": ["a", "b", "c"]},
        {"name": "site", "kind": "categorical", "values": ["north", "south", "west"]},
        {"name": "pay", "kind": "numeric", "dtype": "integer", "min": 0, "max": 9000},
    ]})  # fmt: skip

    def people(seed, west):
        rng = np.random.default_rng(seed)
        grade, site = rng.choice(3, 4000), rng.choice(3, 4000, p=[0.6, 0.3, 0.1])
        pay = 2000 + 900 * grade + 150 * site + west * (site == 2) + rng.normal(0, 200, 4000)
        columns = {"grade": np.array(["a", "b", "c"])[grade], "site": np.array(["north", "south", "west"])[site]}
        return pa.table(columns | {"pay": pay.astype(int)})

    same = group_gaps(compare_tables(schema, people(2, 0), people(1, 0)))
    assert (same.column, same.by, same.grade) == ("pay", "grade", "kept")
    c = compare_tables(schema, people(2, 900), people(1, 0))
    moved = group_gaps(c)
    assert (moved.column, moved.by, moved.grade) == ("pay", "site", "moved")
    assert next(f.columns for f in verdict(c).findings if f.key == "group") == ("pay", "site")
    assert "gaps" not in {f.key for f in verdict(c).findings} and "gaps" in dict(uses(c).bad)
