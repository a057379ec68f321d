"""What a fit leaves to chance follows what released tables expect of fine cells."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from benchmarks.linked_scores import scores
from benchmarks.linked_tables import Shaped, linked, whole
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.records.linked_records import LinkedRecords
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.trees import stratification as spread
from dpsyn_core.runs.trees import synthesis as making
from dpsyn_core.schema.domain import CodedAttribute


def rooms_and_persons(roots):
    """A number of the parent on which one of the children's depends, and one on which nothing does."""
    rng = np.random.default_rng(1)
    rent, built = rng.integers(0, 60, roots), rng.integers(0, 40, roots)
    of = np.repeat(np.arange(roots), rng.integers(1, 4, roots))
    pay = np.clip(rent[of] + rng.normal(0, 6, len(of)), 0, 59).astype(int)
    schema = linked(
        "flats", {"flats": ("flat", [whole("rent", 0, 59, 60), whole("built", 0, 39, 40)]),
                  "tenants": (None, [whole("pay", 0, 59, 60)])},
        [{"parent": "flats", "child": "tenants", "key": "flat", "max_children": 3}],
    )  # fmt: skip
    flats = pa.table({"flat": np.arange(roots), "rent": rent, "built": built})
    return Shaped(tables={"flats": flats, "tenants": pa.table({"flat": of, "pay": pay})}, schema=schema)


def test_children_come_nearer_to_columns_of_their_parents_at_full_resolution(monkeypatch):
    shaped, off = rooms_and_persons(4_000), {}
    for name in ("spread", "left to chance"):
        if name != "spread":
            monkeypatch.setattr(making, "spread_targets", lambda *_: [])
        made = synthesize(shaped.tables, shaped.schema, epsilon=20.0, delta=1e-9, rng=1).arrows
        off[name] = scores(shaped.schema, shaped.tables, made)["across"]
    assert off["spread"] < 0.92 * off["left to chance"], off


def test_a_value_in_order_lies_between_the_middles_of_two_coarse_values():
    attribute = CodedAttribute(name="a", size=7, ordered=True, special=1)
    side = np.array([1.0, 1, 1, 1, 1, 1, 5])
    found = spread._between(Coarsening.of([0, 0, 0, 1, 1, 1, 2]), side, attribute)
    assert np.allclose(found.sum(axis=0), side) and found[2].tolist() == [0] * 6 + [5]
    assert np.allclose(found[1, :6], [0, 0, 1 / 3, 2 / 3, 1, 1])
    plain = spread._between(Coarsening.of([0, 0, 0, 1, 1, 1, 2]), side, CodedAttribute(name="a", size=7))
    assert plain[0].tolist() == [1, 1, 1, 0, 0, 0, 0], "values without order stay in theirs"


def test_independent_columns_of_other_sizes_have_a_ratio_of_one_and_dependent_ones_another():
    sizes = (2, 3)
    columns = [SimpleNamespace(attribute=SimpleNamespace(size=size)) for size in sizes]
    stage = SimpleNamespace(view=SimpleNamespace(columns=columns))
    coarse = [Coarsening.identity(size) for size in sizes]

    def ratio(counts):
        rows = np.repeat(np.argwhere(np.ones(sizes)), counts.ravel(), axis=0).astype(np.uint16)
        ones = np.ones(len(rows), dtype=np.float32)
        records = LinkedRecords(rows=rows, first_own=1, weight=ones, coupling=0 * ones)
        sides = [counts.sum(axis=1).astype(float), counts.sum(axis=0).astype(float)]
        return spread._fitted(records, (0, 1), sides, coarse, stage)

    assert np.allclose(ratio(np.outer([1, 3], [200, 500, 100])), 1)
    dependent = ratio(np.array([[400, 0, 100], [0, 400, 100]]))
    assert dependent[0, 0] > 1.9 and dependent[0, 1] < 0.1 and abs(dependent[0, 2] - 1) < 0.01
