"""What cannot be drawn is refused before it is charged, from the least epsilon to the largest."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from dpsyn_core.errors import BudgetError, InputError
from dpsyn_core.measure.discovery import Wanted
from dpsyn_core.measure.sparse import empty_survivors, noisy_above, survival
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.noise.draws import LARGEST
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.purchase import buy_schema
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.schema.document import Schema, SchemaUnit
from dpsyn_core.systems import registry
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.dry_run import check_drawable, plan
from dpsyn_core.systems.others import field_groups
from tests.systems.harness import SeededNoise

SIZES = {"a": 3, "b": 2, "c": 4}
ROWS = 40
TABLE = pa.table({n: [str(i % k) for i in range(ROWS)] for n, k in SIZES.items()})
SETTINGS = {"field-groups": {"groups": "a+b"}}
SETTINGS |= {name: {"steps": 3, "hidden": 3} for name in ("p3gm", "p3gm-ae", "dp-vae", "dp-gm")}


def schema(neighbours="add-remove", theta=1):
    attributes = [
        {"name": n, "kind": "categorical", "source": "public", "values": [str(i) for i in range(k)]}
        for n, k in SIZES.items()
    ]
    unit = {"neighbours": neighbours, "max_records": theta}
    return Schema.of({"version": 1, "name": "tiny", "n_records": ROWS, "unit": unit, "attributes": attributes})


def run(tmp_path, method, epsilon, delta, neighbours):
    """Whether a run was released (True) or refused unspent (False)."""
    ledger = Ledger(tmp_path / f"{method}-{epsilon}-{delta}-{neighbours}.sqlite3")
    try:
        made = synthesize(
            TABLE, schema(neighbours), epsilon=epsilon, delta=delta, rng=1, method=method, ledger=ledger,
            settings=SETTINGS.get(method, {}), n_records=10,
        )  # fmt: skip
    except InputError:
        assert ledger.entries() == []
        return False
    assert made.arrow.num_rows == 10
    assert len(ledger.entries()) == 1
    return True


@pytest.mark.slow
@pytest.mark.parametrize("method", registry.names())
def test_every_system_runs_or_refuses_unspent_from_the_least_to_the_largest_epsilon(tmp_path, monkeypatch, method):
    monkeypatch.setattr(field_groups, "DENSE_CELLS", 1)  # all tables of field groups are drawn sparsely
    neighbours = registry.config_class(method).guarantee.neighbours[0]
    ran = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for delta in (0.0, 1e-9):
            for epsilon in (1e-6, 1e-3, 29.0, 60.0, 710.0, 1000.0):
                ran += run(tmp_path, method, epsilon, delta, neighbours)
    assert ran >= 6  # at one delta or both


@pytest.mark.parametrize("method", registry.names())
def test_every_charge_of_a_run_that_is_let_through_lies_within_the_samplers(method):
    guarantee = registry.config_class(method).guarantee
    refused = 0
    for theta in (1,) if guarantee.one_record else (1, 1000, 1_000_000):
        for delta in (0.0, 1e-9, 1e-300):
            for epsilon in np.logspace(-6, 3, 10):
                task = Task(
                    domain=schema().domain(), unit=Unit(neighbours=guarantee.neighbours[0], max_records=theta),
                    budget=Budget(epsilon=float(epsilon), delta=delta), n_public=ROWS,
                )  # fmt: skip
                try:
                    made = plan(method, SETTINGS.get(method, {}), task)
                    check_drawable(made)
                except InputError:
                    refused += 1
                    continue
                assert all(c.scale <= LARGEST for c in made.charges)
                assert all(s.sigma is None or max(s.sigma) <= LARGEST for s in made.steps)
    assert refused < 90


def test_noise_beyond_the_samplers_is_refused_unspent(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    wide = Schema.of({
        "version": 1, "name": "wide", "unit": {"max_records": 1_000_000},
        "attributes": [
            {"name": f"x{i}", "kind": "categorical", "source": "public", "values": ["0", "1"]} for i in range(1200)
        ],
    })  # fmt: skip
    with pytest.raises(BudgetError, match="widest noise"):
        synthesize(TABLE, wide, epsilon=1e-6, delta=0.0, rng=1, ledger=ledger, method="independent")
    with pytest.raises(BudgetError, match="widest noise"):
        buy_schema(
            TABLE, [Wanted(name=n, kind="integer") for n in SIZES], name="t", epsilon=1e-6, delta=0.0,
            unit=SchemaUnit(max_records=1_000_000), ledger=ledger,
        )  # fmt: skip
    assert ledger.entries() == []


@pytest.mark.parametrize("scale", [1 / 1000, 1 / 60, 0.1, 0.3, 0.7])
def test_sparse_noise_of_a_small_scale_has_the_law_of_dense_noise(scale):
    threshold, cells, runs = 1, 300, 3000
    noise = SeededNoise(11)
    found = [empty_survivors(noise, scale=scale, threshold=threshold, cells=cells) for _ in range(runs)]
    counts = np.array([index.size for index, _ in found])
    expected = cells * survival(scale, threshold)
    assert abs(counts.mean() - expected) <= 6 * np.sqrt(expected / runs) + 1e-9  # six standard errors
    values = np.concatenate([v for _, v in found])
    if values.size:
        a = np.exp(-1 / scale)
        steps = np.bincount(values - threshold, minlength=3)[:3]
        law = (1 - a) * a ** np.arange(3)
        likely = law * values.size > 5
        assert (np.abs(steps - law * values.size)[likely] < 6 * np.sqrt(law * values.size)[likely]).all()
    index = np.concatenate([i for i, _ in found])
    assert index.size < 100 or stats.kstest(index / cells, "uniform").pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [29.0, 60.0, 1000.0])
def test_counts_come_through_where_hardly_any_noise_is_left(epsilon):
    index, values = noisy_above(
        np.array([3, 90]), np.array([200, 9]), SeededNoise(3), scale=1 / epsilon, threshold=5, cells=400
    )
    assert index.tolist() == [3, 90]
    assert values.tolist() == [200, 9]
