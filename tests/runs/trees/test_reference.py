"""What scores of links are held against, and keys: against tables in which the answer is known."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.runs.trees.comparison import compare_links
from dpsyn_core.runs.trees.keys import check_keys
from dpsyn_core.runs.trees.reference import fresh_tables, link_verdicts, separate_tables, unattached_tables
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.panel import panel_schema
from tests.runs.trees.small import SCHEMAS, listed, number, schema_of, tables

RNG = 5


def attached(roots=3000, seed=1):
    """Tables whose children follow their root: its value decides theirs, and siblings are alike."""
    rng = np.random.default_rng(seed)
    value = rng.integers(0, 2, roots)
    of = np.repeat(np.arange(roots), 3)
    ages = 3 * value[of] + rng.integers(0, 2, len(of))
    kids = pa.table({"root": of.astype(str), "r": np.full(len(of), "2"), "t": ages.astype(str)})
    return {"roots": pa.table({"id": np.arange(roots).astype(str), "a": value.astype(str)}), "kids": kids}


def families(given):
    """Each root's record with the sorted records of its children."""
    kids = {}
    for row in given["kids"].to_pylist():
        kids.setdefault(row["root"], []).append((row["r"], row["t"]))
    return sorted((row["a"], tuple(sorted(kids.get(row["id"], [])))) for row in given["roots"].to_pylist())


def test_a_fresh_sample_holds_whole_families_under_new_keys():
    given = tables(200, 3, seed=3)
    drawn = fresh_tables(SCHEMAS["plain"], given, np.random.default_rng(RNG))
    assert drawn["roots"].num_rows == 100
    assert set(families(drawn)) <= set(families(given))
    (found,) = check_keys(SCHEMAS["plain"], drawn)
    assert found.hold and found.parents == 100


def test_handing_out_children_keeps_their_numbers_and_their_records():
    given = tables(300, 3, seed=4)
    apart = unattached_tables(SCHEMAS["plain"], given, np.random.default_rng(RNG))
    assert sorted(apart["kids"]["root"].to_pylist()) == sorted(given["kids"]["root"].to_pylist())
    assert apart["kids"].select(["r", "t"]) == given["kids"].select(["r", "t"])
    assert families(apart) != families(given)


def test_handing_out_children_within_roles_keeps_who_is_single():
    given = tables(300, 3, seed=4)
    apart = unattached_tables(SCHEMAS["roles"], given, np.random.default_rng(RNG))
    for role in "012":
        pick = [[row["root"] for row in t["kids"].to_pylist() if row["r"] == role] for t in (given, apart)]
        assert sorted(pick[0]) == sorted(pick[1])


def test_all_is_kept_of_the_tables_themselves_and_nothing_of_children_by_chance():
    given, schema = attached(), SCHEMAS["plain"]
    same = {v.metric: v for v in link_verdicts(schema, given, given, rng=np.random.default_rng(RNG))}
    assert same["parent x child"].kept == 1 and same["parent x child"].value == 0
    assert same["parent x child"].unattached > 10 * same["parent x child"].fresh
    chance = unattached_tables(schema, given, np.random.default_rng(RNG + 1))
    lost = {v.metric: v for v in link_verdicts(schema, chance, given, rng=np.random.default_rng(RNG))}
    # two ways of handing out 9,000 children differ by some hundredths of the distance
    assert lost["parent x child"].kept == pytest.approx(0, abs=0.1)
    assert lost["siblings"].kept == pytest.approx(0, abs=0.1)
    assert lost["children"].value == 0 and lost["children"].kept is None


def test_relations_of_fine_columns_are_kept_although_no_value_agrees():
    schema = schema_of({}, root=(number("a", 400),), child=(number("t", 400),))

    def made(seed):
        rng = np.random.default_rng(seed)
        value = rng.integers(50, 350, 2500)
        of = np.repeat(np.arange(2500), 3)
        near = value[of] + rng.integers(-40, 40, len(of))
        kids = pa.table({"root": of.astype(str), "t": near.astype(str)})
        return {"roots": pa.table({"id": np.arange(2500).astype(str), "a": value.astype(str)}), "kids": kids}

    found = {v.metric: v for v in link_verdicts(schema, made(2), made(1), rng=np.random.default_rng(RNG))}
    assert found["parent x child"].kept > 0.95 and found["siblings"].kept > 0.9


def test_a_fresh_sample_lies_as_far_as_another_sample_of_the_population():
    one, other, schema = attached(seed=1), attached(seed=2), SCHEMAS["plain"]
    found = {v.metric: v for v in link_verdicts(schema, other, one, rng=np.random.default_rng(RNG))}
    for metric in ("parent x child", "siblings"):
        # both are one draw of the same sampling error
        assert 0.3 < found[metric].fresh / found[metric].value < 3
        assert found[metric].kept > 0.9


def test_where_nothing_hangs_together_nothing_is_said_to_be_kept():
    given = tables(4000, 3, seed=7)
    found = {v.metric: v for v in link_verdicts(SCHEMAS["plain"], given, given, rng=np.random.default_rng(RNG))}
    assert found["parent x child"].kept is None


def test_keys_that_do_not_hold_are_counted():
    schema = SCHEMAS["plain"]
    roots = pa.table({"id": ["1", "2", "2"], "a": ["0", "1", "0"]})
    kids = pa.table({"root": ["1"] * 4 + ["9"], "r": ["0"] * 5, "t": ["0"] * 5})
    (found,) = check_keys(schema, {"roots": roots, "kids": kids})
    assert (found.orphans, found.repeated, found.most, found.allowed, found.childless) == (1, 1, 4, 3, 1)
    assert not found.hold
    (empty,) = check_keys(schema, {"roots": roots.slice(0, 2), "kids": kids.slice(0, 0)})
    assert empty.hold and empty.children == 0 and empty.childless == 2


def test_a_panel_is_separated_into_persons_and_rows():
    attributes = [listed("sex", 2), number("year", 3), listed("job", 2)]
    schema = panel_schema(
        Schema.of({"version": 1, "name": "p", "attributes": attributes}), person="id", wave="year", constant=["sex"]
    )
    file = pa.table({"id": ["1", "1", "2"], "sex": ["0", "0", "1"], "year": ["0", "1", "0"], "job": ["0", "1", "1"]})
    parts = separate_tables(schema, {"p": file})
    assert parts["persons"].num_rows == 2 and parts["rows"].num_rows == 3
    (found,) = check_keys(schema, {"p": file})
    assert found.hold and (found.parents, found.children, found.most) == (2, 3, 2)
    drawn = fresh_tables(schema, parts, np.random.default_rng(RNG))
    assert drawn["persons"].num_rows == 1


def test_siblings_without_an_order_are_judged_alike_each_time():
    """What a page says of one release must not change when it is opened again."""
    real, made, schema = attached(seed=3), attached(seed=4), SCHEMAS["plain"]

    def said():
        verdicts = link_verdicts(schema, made, real, rng=np.random.default_rng(RNG))
        return [v.sentence for v in verdicts], [s.sentence for s in compare_links(schema, made, real)]

    assert said() == said()
