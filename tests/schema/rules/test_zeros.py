"""Cells that rules make impossible: none that a record can fall into, and all where the cells are single values."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure.sources.memory import MemorySource
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.measurement import measure
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.tables import make_tables, without_known_zeros
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.rules.repair import repair
from dpsyn_core.systems.base import zeros_of
from tests.schema.helpers import cat, num
from tests.schema.rules.test_repair import declared, drawn, wide_schema

RULES = [
    {"kind": "order", "lower": "a", "upper": "b"},
    {"kind": "impossible", "where": "k = x and a in [2, 3]"},
    {"kind": "follows", "column": "g", "of": ["k"], "map": [["x", "u"], ["y", "v"]]},
    {"kind": "blank", "column": "c", "where": "k = z", "only": True},
]
COLUMNS = [
    num("a", 0, 3, 4),
    num("b", 0, 3, 4),
    num("c", 0, 1, 2, missing=True),
    cat("k", list("xyz")),
    cat("g", list("uvw")),
]


def test_single_values_tell_exactly_which_cells_are_impossible():
    zeros = zeros_of(declared(RULES, COLUMNS))
    assert zeros.cells(("a", "b")).tolist() == [[b < a for b in range(4)] for a in range(4)]
    assert zeros.cells(("a", "k"))[:, 0].tolist() == [False, False, True, True]
    assert zeros.cells(("k", "g")).tolist() == [[False, True, True], [True, False, True], [False] * 3]
    assert zeros.cells(("c", "k")).T.tolist() == [[False, False, True]] * 2 + [[True, True, False]]
    assert zeros.cells(("c", "g")) is None
    negated = zeros_of(declared([{"kind": "impossible", "where": "not b in [0, 1] and k = z"}], COLUMNS))
    assert negated.cells(("b", "k"))[:, 2].tolist() == [False, False, True, True]
    halves = {"a": Coarsening.of([0, 0, 1, 1]).map, "b": Coarsening.of([0, 0, 1, 1]).map}
    assert zeros.cells(("a", "b"), halves).tolist() == [[False, False], [True, False]]


def test_what_stood_in_an_impossible_cell_goes_to_the_others():
    zeros = zeros_of(declared(RULES, COLUMNS))
    noisy = np.random.default_rng(0).normal(20, 9, (4, 4))
    clean = zeros.emptied(noisy, ("a", "b"))
    assert not clean[zeros.cells(("a", "b"))].any() and clean.sum() == pytest.approx(noisy.sum())
    assert zeros.emptied(noisy, ("a", "other")) is noisy and zeros_of(declared([], COLUMNS)) is None


@pytest.mark.parametrize("seed", range(150, 170))
def test_no_record_that_keeps_the_rules_falls_into_a_known_zero(seed):
    rng = np.random.default_rng(seed)
    schema = wide_schema(rng)
    zeros, domain = zeros_of(schema), schema.domain()
    if zeros is None:
        return
    table = repair(drawn(schema, 400, rng), schema.rules, schema, rng)[0]
    codes = Codec(schema).encode(table, individuals=False).codes
    for rule in schema.rules:
        for size in range(1, min(len(rule.columns), 3) + 1):
            for names in itertools.combinations(domain.ordered_set(rule.columns), size):
                found = zeros.cells(names) if np.prod([domain[n].size for n in names]) < 1e6 else None
                if found is not None:
                    assert not found[tuple(codes[domain.index(n)] for n in names)].any(), (str(rule), names)


@pytest.mark.parametrize("method", ["privsyn", "mst", "priview", "dpsyn"])
def test_a_system_that_merges_values_finds_the_zeros_of_its_own_tables(method, tmp_path):
    columns = [num("a", 0, 999, 500), num("b", 0, 999, 500), num("c", 0, 99, 3)]
    schema = declared([{"kind": "order", "lower": "a", "upper": "b"}], columns)
    low, high = np.sort(np.random.default_rng(0).integers(0, 1000, (2, 2000)), axis=0)
    table = pa.table({"a": low, "b": high, "c": low % 100})
    spec = RunSpec(epsilon=20, delta=1e-6, method=method)
    measured = measure(
        MemorySource(table),
        schema,
        spec,
        facts=spec.facts(schema, query_vouched=False),
        ledger=Ledger(tmp_path / "l.db"),
    )
    clean = without_known_zeros(measured.measurements, measured.task.zeros, measured.system)
    pairs = [m for m in measured.system.measurements(clean) if {"a", "b"} <= set(m.attributes)]
    assert pairs
    for m in pairs:
        values = m.values.reshape(*m.values.shape[:2], -1)
        possible = np.zeros(values.shape[:2], dtype=bool)
        codes = [m.recodes[n].map for n in "ab"]
        assert len(codes[0]) == 500 and possible.size < 500**2
        for i in range(500):
            possible[codes[0][i], codes[1][i:]] = True
        assert (~possible).any() and not values[~possible].any()
    assert len(make_tables(measured)[0]) == 3
