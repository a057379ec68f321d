"""Bought knowledge: it is close to the truth, it is charged step by step, and individuals stay bounded."""

import inspect

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import BudgetError, SchemaError
from dpsyn_core.measure import discovery
from dpsyn_core.measure.discovery import Wanted, cap_of, discover
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.quantiles import buy_edges, buy_range, edges_of
from dpsyn_core.measure.unprotected import bounded, distinct_counts
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import SchemaUnit
from tests.seeded import SeededNoise

QUIET = SeededNoise(scale=0.0)
N = 20_000


def people(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": np.clip(rng.normal(40, 12, n), 17, 90).astype(int).astype(str),
            "income": np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(8, 1, n)).round(2).astype(str),
            "city": rng.choice(["rome", "oslo", "bern"], n, p=[0.6, 0.3, 0.1]).tolist(),
            "since": [f"{y}-03-01" for y in rng.integers(1995, 2020, n)],
        }
    )


def buy(table, wanted, budget, *, unit=None, noise=None):
    unit = unit or SchemaUnit()
    cost, delta = cap_of(wanted, budget, Unit())
    gate = Gate(
        account=Account(cost, delta=delta),
        noise=noise or SystemNoise(),
        unit=Unit(neighbours=unit.neighbours, max_records=unit.max_records),
    )
    return discover(table, wanted, name="people", unit=unit, gate=gate, cost=cost, delta=delta), gate


WANTED = [
    Wanted(name="age", kind="integer", bins=8),
    Wanted(name="income", kind="float", bins=6),
    Wanted(name="city", kind="categorical"),
    Wanted(name="since", kind="date"),
]


def test_a_schema_is_bought_that_fits_the_table_and_stays_within_the_budget():
    budget = Budget(epsilon=1.0, delta=1e-6)
    found, gate = buy(people(), WANTED, budget)
    schema = found.schema
    assert schema.private
    assert [a.source for a in schema.attributes] == ["bought"] * 4
    assert schema["age"].min <= 18
    assert 63 <= schema["age"].max <= 127
    assert 5 <= schema["age"].size <= 9
    assert set(schema["city"].values) == {"rome", "oslo", "bern"}
    assert schema["city"].other
    assert schema["since"].min == "1995-01-01"
    assert schema["since"].max == "2019-12-31"
    assert abs(found.total - N) < 200
    assert compose(found.charges).epsilon(budget.delta) <= budget.epsilon
    assert gate.account.spent > 0.9 * gate.account.limit
    assert [c.name for c in schema.bought] == [c.name for c in found.charges]
    assert Codec(schema).encode(people()).codes.shape == (4, N)


def test_edges_lie_near_the_quantiles():
    found, _ = buy(people(), WANTED[:1], Budget(epsilon=1.0, delta=1e-6))
    ages = np.array(people()["age"].to_pylist(), dtype=int)
    edges = np.array(found.schema["age"].bins.edges)
    shares = np.histogram(ages, [-np.inf, *edges, np.inf])[0] / N
    assert shares.max() < 0.2
    assert len(edges) >= 6


def test_without_noise_edges_are_quantiles_and_a_pile_gets_a_bin_of_its_own():
    counts = [np.array([16, 16, 16, 16]), np.full(16, 4), np.full(64, 1)]
    assert edges_of(counts, 4) == [16, 32, 48]
    pile = np.ones(64, dtype=np.int64)
    pile[10] = 1000
    levels = [pile.reshape(4, 16).sum(1), pile.reshape(16, 4).sum(1), pile]
    assert {10, 11} <= set(edges_of(levels, 4))
    assert edges_of([np.zeros(4, dtype=np.int64)], 5) == []


@pytest.mark.parametrize(
    ("values", "whole", "expected"),
    [
        ([17, 90], True, (16, 127)),
        ([-5, 3], True, (-7, 3)),
        ([0, 0], True, (0, 0)),
        ([1, 1], True, (1, 1)),
        ([0.3, 5.0], False, (0.25, 8.0)),
        ([-np.inf, 1.0], False, (-(2.0**62), 2.0)),
        ([1e-300, -1e-300], False, (0.0, 0.0)),
    ],
)
def test_ranges_are_powers_of_two_around_the_values(values, whole, expected):
    gate = Gate(account=Account(Cost(rho=1.0)), noise=QUIET, unit=Unit())
    values = np.repeat(np.array(values, dtype=np.int64 if whole else np.float64), 1000)
    assert buy_range(values, "x", whole=whole, gate=gate, cost=Cost(rho=0.9))[:2] == expected


def test_a_single_far_record_does_not_widen_the_range():
    gate = Gate(account=Account(Cost(rho=0.1)), noise=SystemNoise(), unit=Unit())
    values = np.append(np.full(5000, 40), 10**9)
    assert buy_range(values, "x", whole=True, gate=gate, cost=Cost(rho=0.1))[:2] == (32, 63)


def test_a_range_hidden_by_the_noise_is_refused_with_a_remedy():
    with pytest.raises(BudgetError, match="declare its min and max"):
        buy(people(5), [Wanted(name="age", kind="integer")], Budget(epsilon=0.1, delta=1e-6))
    with pytest.raises(BudgetError, match="declare its values"):
        buy(people(5), [Wanted(name="city", kind="categorical")], Budget(epsilon=0.1, delta=1e-6))


def test_pure_budgets_buy_numbers_but_no_categories():
    found, _ = buy(people(), WANTED[:2], Budget(epsilon=2.0, delta=0.0))
    assert {c.mechanism for c in found.charges} == {"geometric"}
    assert compose(found.charges).pure_epsilon <= 2.0
    with pytest.raises(BudgetError, match="delta is 0"):
        cap_of(WANTED, Budget(epsilon=1.0, delta=0.0), Unit())


def test_a_range_alone_is_bought_where_no_bins_are_wanted_for_it_says_where_fine_ones_begin():
    found, _ = buy(people(), [Wanted(name="age", kind="integer")], Budget(epsilon=1.0, delta=1e-6))
    assert [c.name for c in found.charges] == ["number of records", "range of age"]
    assert found.schema["age"].bins is None and found.schema["age"].binning.single
    whole = Budget(epsilon=1.0, delta=1e-6).gaussian()
    assert sum(c.rho for c in found.charges) == pytest.approx(whole.rho)  # what bins cost before goes to the range


def test_what_is_bought_of_amounts_and_of_dates_is_read_as_they_are_written():
    years = np.arange(6000) % 4 + 1990
    table = pa.table({"pay": [f"${1100 + i % 900:,}" for i in range(6000)], "since": [f"31/12/{y}" for y in years]})
    wanted = [
        Wanted(name="pay", kind="integer", written="$1,234"),
        Wanted(name="since", kind="date", formats=("%d/%m/%Y",)),
    ]
    found, _ = buy(table, wanted, Budget(epsilon=1.0, delta=1e-9), noise=QUIET)
    assert (found.schema["pay"].written, found.schema["since"].formats) == ("$1,234", ("%d/%m/%Y",))
    assert (found.schema["pay"].min, found.schema["pay"].max) == (1024, 2047)
    assert (found.schema["since"].min, found.schema["since"].max) == ("1990-01-01", "1993-12-31")
    assert Codec(found.schema).encode(table).codes.max(axis=1)[0] < found.schema["pay"].size - 1


def test_declared_ranges_cost_nothing_and_few_whole_numbers_need_no_edges():
    table = people()
    found, _ = buy(table, [Wanted(name="age", kind="integer", low=17, high=90)], Budget(epsilon=1.0, delta=1e-6))
    assert not any("range" in c.name for c in found.charges)
    assert found.schema["age"].bins is None and [c.name for c in found.charges] == ["number of records"]
    found, _ = buy(table, [Wanted(name="age", kind="integer", low=0, high=3, bins=10)], Budget(epsilon=1.0, delta=1e-6))
    assert found.schema["age"].size == 5  # four numbers and the missing cell
    assert [c.name for c in found.charges] == ["number of records"]
    found, _ = buy(
        table, [Wanted(name="age", kind="integer", low=20, high=23, bins=10)], Budget(epsilon=1.0, delta=0.0)
    )
    assert found.schema["age"].size == 5, "numbers are few by their distance"
    assert [c.name for c in found.charges] == ["number of records"]


def test_a_flood_of_one_individual_neither_passes_the_threshold_nor_moves_the_counts():
    rows = [(f"p{i}", "rome") for i in range(3000)] + [("spammer", "secret")] * 3000
    table = pa.table({"who": [r[0] for r in rows], "city": [r[1] for r in rows]})
    unit = SchemaUnit(identifier="who", max_records=2)
    found, _ = buy(
        table, [Wanted(name="city", kind="categorical")], Budget(epsilon=3.0, delta=1e-6), unit=unit, noise=QUIET
    )
    assert found.schema["city"].values == ("rome",)
    assert found.total == 3002
    assert found.schema["who"].kind == "identifier"


def test_which_rows_of_an_individual_are_kept_depends_on_these_rows_alone(monkeypatch):
    monkeypatch.setattr("dpsyn_core.measure.unprotected.os.urandom", lambda n: bytes(range(n)))
    rng = np.random.default_rng(1)
    who = [f"p{i}" for i in rng.integers(0, 40, 400)]
    what = [str(v) for v in rng.integers(0, 1000, 400)]
    unit = SchemaUnit(identifier="who", max_records=3)

    def kept_rows(order):
        table = bounded(pa.table({"who": [who[i] for i in order], "what": [what[i] for i in order]}), unit)
        return sorted(zip(table["who"].to_pylist(), table["what"].to_pylist(), strict=True))

    everyone = kept_rows(range(400))
    assert kept_rows(rng.permutation(400)) == everyone
    without = kept_rows([i for i in range(400) if who[i] != "p7"])
    assert without == [row for row in everyone if row[0] != "p7"]
    assert max(np.unique([w for w, _ in everyone], return_counts=True)[1]) == 3


def test_individuals_are_counted_once_for_each_value_they_hold():
    table = pa.table({"who": ["a", "a", "a", "b", "b"], "city": ["x", "x", "y", "x", None]})
    keys, counts = distinct_counts(table, "city", SchemaUnit(identifier="who", max_records=9))
    assert dict(zip(keys, counts.tolist(), strict=True)) == {"x": 2, "y": 1}
    keys, counts = distinct_counts(table, "city", SchemaUnit(max_records=9))
    assert dict(zip(keys, counts.tolist(), strict=True)) == {"x": 3, "y": 1}


def test_neighbours_move_every_histogram_by_at_most_its_sensitivity():
    class Diary(Gate):
        def _noisy(self, exact, charge):
            self.__dict__.setdefault("seen", []).append((exact.ravel(), charge))
            return exact

    table = people(500)
    seen = []
    for rows in (table, table.slice(1)):
        gate = Diary(account=Account(Cost(rho=5.0)), noise=QUIET, unit=Unit())
        wanted = [Wanted(name="age", kind="integer", bins=4, low=17, high=90), WANTED[1]]
        discover(rows, wanted, name="t", unit=SchemaUnit(), gate=gate, cost=Cost(rho=5.0), delta=0.0)
        seen.append(gate.seen)
    for (a, charge), (b, _) in zip(*seen, strict=True):
        assert np.abs(a - b).sum() <= 1
        assert charge.sensitivity == 1


def test_ill_formed_wishes_are_refused():
    with pytest.raises(SchemaError, match="both ends"):
        Wanted(name="age", kind="integer", low=3)
    with pytest.raises(SchemaError, match="at least 1"):
        Wanted(name="age", kind="integer", bins=0)
    with pytest.raises(SchemaError, match="in the table exactly once"):
        buy(people(10), [Wanted(name="height", kind="float")], Budget(epsilon=1.0, delta=1e-6))
    with pytest.raises(SchemaError, match="nothing is wanted"):
        buy(people(10), [], Budget(epsilon=1.0, delta=1e-6))


def test_a_failed_discovery_keeps_its_charges():
    wanted = [Wanted(name="age", kind="integer")]
    cost, delta = cap_of(wanted, Budget(epsilon=0.1, delta=1e-6), Unit())
    gate = Gate(account=Account(cost, delta=delta), noise=SystemNoise(), unit=Unit())
    with pytest.raises(BudgetError):
        discover(people(5), wanted, name="t", unit=SchemaUnit(), gate=gate, cost=cost, delta=delta)
    assert gate.account.spent > 0


def test_discovery_has_no_seed():
    assert not {"seed", "rng"} & set(inspect.signature(discovery.discover).parameters)


def test_edge_cells_hold_everything_even_outside_the_range():
    gate = Gate(account=Account(Cost(rho=1.0)), noise=QUIET, unit=Unit())
    values = np.array([-50] * 50 + [5] * 100 + [999] * 50)
    edges = buy_edges(values, "x", low=0, high=9, bins=4, whole=True, gate=gate, cost=Cost(rho=0.9))
    assert set(edges) <= set(range(1, 10))
    assert {5, 6} <= set(edges)
