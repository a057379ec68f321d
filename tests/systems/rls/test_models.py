"""Declared regressions in rls: sums through the gate, records with the coefficients that they suggest, their files."""

from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.estimate.marginals.model_sums import ModelSum, parsed_sum
from dpsyn_core.estimate.marginals.released_file import pack_measurements, read_released
from dpsyn_core.estimate.marginals.types import redrawn
from dpsyn_core.estimate.records.rls.model_outcomes import coefficients, exchange_outcomes
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.manifest.statement import ChargeRecord
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.regress import DesignMatrix, design_of, fit_linear, fit_logistic
from dpsyn_core.runs.verify.stated_noise import underpaid
from dpsyn_core.schema.document import Schema
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.rls.models import aim
from tests.seeded import SeededNoise

WHOLE = {"kind": "numeric", "dtype": "integer", "missing": False}
SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "patients",
        "attributes": [
            WHOLE | {"name": "age", "min": 20, "max": 59, "bins": {"count": 40}},
            {"name": "ward", "kind": "categorical", "values": ["a", "b", "c"], "missing": True},
            {"name": "treated", "kind": "categorical", "values": [0, 1], "missing": False},
            WHOLE | {"name": "cost", "min": 0, "max": 99, "bins": {"count": 100}},
            {"name": "died", "kind": "categorical", "values": ["no", "yes"], "missing": False},
        ],
    }
)  # fmt: skip
NAMES = SCHEMA.domain().names
DIED = {"name": "deaths", "kind": "regression", "formula": "died ~ treated*ward + age", "model": "logistic"}
COST = {"name": "costs", "kind": "regression", "formula": "cost ~ treated + age + square(age)"}


def patients(n, seed=0):
    """Treatment goes to the old and helps; without age it seems to harm."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 40, n)
    ward = np.where(rng.random(n) < 0.1, 3, rng.integers(0, 3, n))
    treated = (rng.random(n) < 1 / (1 + np.exp(-(age - 20) / 5))).astype(int)
    died = (rng.random(n) < 1 / (1 + np.exp(1.5 - 0.12 * (age - 20) + 1.2 * treated))).astype(int)
    cost = np.clip(np.round(40 + 10 * treated - 0.03 * (age - 20) ** 2 + rng.normal(0, 8, n)), 0, 99).astype(int)
    return np.array([age, ward, treated, cost, died], dtype=np.uint8)


def designs(*asked):
    return [design_of(q, SCHEMA) for q in Questions.of(list(asked)).checked(SCHEMA).questions]


def fitted(design, codes):
    numbers = design.numbers(dict(zip(NAMES, codes, strict=True)))
    numbers = numbers[design.complete(numbers) > 0]
    x, n = design.x(numbers), len(numbers)
    made = DesignMatrix(terms=design.labels, x=x, y=numbers[:, design.y], weights=np.ones(n), keep=np.arange(n))
    beta, covariance = (fit_logistic if design.logistic else fit_linear)(made)
    return beta, np.sqrt(np.diag(covariance))


def exact(design, draft, codes, sigma=0.01):
    """The sum of the records, next to no noise, from coefficients of a draft."""
    made = aim(design, design.numbers(dict(zip(NAMES, draft, strict=True))), codes.shape[1])
    values = made.vectors(design.numbers(dict(zip(NAMES, codes, strict=True)))).sum(axis=0)
    return replace(made, values=values, sigma=sigma * made.clip)


def independent(codes, seed=1):
    rng = np.random.default_rng(seed)
    out = codes.copy()
    out[NAMES.index("died")] = rng.permutation(out[NAMES.index("died")])
    out[NAMES.index("cost")] = rng.permutation(out[NAMES.index("cost")])
    return out


def released(epsilon=3.0, delta=1e-9, n=4000, asked=(DIED, COST), neighbours="add-remove", seed=0):
    task = Task.of(SCHEMA, Budget(epsilon=epsilon, delta=delta), questions=Questions.of(list(asked)).checked(SCHEMA))
    task = replace(task, unit=Unit(neighbours=neighbours, max_records=1))
    system = configure("rls", {"effort": 0.3}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    measured = system.measure(MemoryCounter(patients(n), task.domain), gate=gate)
    return system, gate, measured


@pytest.fixture(scope="module")
def run():
    return released()


@pytest.mark.parametrize("asked", [DIED, COST])
def test_records_get_the_coefficients_of_the_real_ones_from_their_sum_and_keep_their_columns(asked):
    (design,) = designs(asked)
    real, made = patients(6000), independent(patients(6000, 3))
    wanted, error = fitted(design, real)
    assert np.abs((fitted(design, made)[0] - wanted) / error).max() > 5
    rows = np.ascontiguousarray(made.T)
    before = [np.bincount(column) for column in rows.T]
    for turn in range(3):
        s = exact(design, rows.T, real)
        exchange_outcomes(rows, {n: i for i, n in enumerate(NAMES)}, [s], total=6000.0, rng=np.random.default_rng(turn))
    assert np.abs((fitted(design, rows.T)[0] - wanted) / error).max() < 1.5
    assert all(np.array_equal(np.bincount(column), b) for column, b in zip(rows.T, before, strict=True))
    outcome = NAMES.index(design.outcome)
    assert np.array_equal(np.delete(rows.T, outcome, axis=0), np.delete(made, outcome, axis=0))


def test_vectors_of_a_logistic_model_are_never_longer_than_the_clip_norm():
    (design,) = designs(DIED)
    s = exact(design, independent(patients(2000)), patients(2000))
    every = np.array(np.meshgrid(*[np.arange(a.size) for a in SCHEMA.domain().attributes], indexing="ij"))
    every = every.reshape(len(NAMES), -1)[:, ::7]
    norms = np.linalg.norm(s.vectors(design.numbers(dict(zip(NAMES, every, strict=True)))), axis=1)
    assert norms.max() <= s.clip * (1 + 1e-12)
    assert norms[every[NAMES.index("ward")] == 3].max() == 0  # records without a ward take no part


def test_a_sum_that_says_nothing_leaves_finite_coefficients():
    (design,) = designs(DIED)
    s = replace(exact(design, independent(patients(500)), patients(500)), sigma=1e6)
    numbers = design.numbers(dict(zip(NAMES, patients(500), strict=True)))
    assert np.abs(coefficients(s, numbers, 1.0)[0]).max() < 20


def test_the_run_charges_two_sums_a_model_and_no_table(run):
    system, gate, measured = run
    charges = gate.account.charges
    assert [c.name for c in charges if c.kind == "sum"] == ["model deaths", "model costs"] * 2
    assert not [c for c in charges if c.kind == "question"]
    assert sum(c.rho for c in charges) == pytest.approx(system.cost.rho, rel=1e-9)
    assert [s.design.name for s in measured.sums] == ["deaths", "costs"]
    step = next(s for s in system.steps(4000) if s.kind == "sum")
    assert step.parts == (4, 4)
    assert step.share[0] == pytest.approx(sum(c.rho for c in charges if c.kind == "sum") / system.cost.rho, rel=0.01)


def test_records_follow_the_sums_and_do_not_without_them(run):
    system, _, measured = run
    (design,) = designs(DIED)
    wanted, error = fitted(design, patients(4000))
    treated = design.labels.index("treated")
    made = system.synthesize(measured, 4000, rng=np.random.default_rng(0))
    assert fitted(design, made)[0][treated] < 0 and wanted[treated] < -3 * error[treated]
    off = np.abs(fitted(design, made)[0] - wanted) / error
    measured = measured.like(measured)
    measured.sums = ()
    loose = system.synthesize(measured, 4000, rng=np.random.default_rng(0))
    assert np.sqrt((off**2).mean()) < 0.7 * np.sqrt((((fitted(design, loose)[0] - wanted) / error) ** 2).mean())


def test_tables_are_measured_where_noise_is_not_gaussian():
    _, gate, measured = released(delta=0.0)
    assert {c.kind for c in gate.account.charges} >= {"question"} and not measured.sums
    assert not [c for c in gate.account.charges if c.kind == "sum"]


def test_sums_are_written_read_and_drawn_again(run):
    _, _, measured = run
    found = read_released(pack_measurements(measured, schema=SCHEMA), "x.json.gz").measurements
    for mine, its in zip(measured.sums, found.sums, strict=True):
        assert mine.design.same(its.design) and mine.sigma == its.sigma and mine.clip == its.clip
        assert np.array_equal(mine.values, its.values) and np.array_equal(mine.turn, its.turn)
    again = redrawn(found, pure=False, rng=np.random.default_rng(0)).sums
    moved = [(a.values - b.values) / b.sigma for a, b in zip(again, found.sums, strict=True)]
    assert 0.3 < np.concatenate(moved).std() < 2


@pytest.mark.parametrize(
    "change",
    [{"clip": 0.0}, {"sigma": -1.0}, {"start": [0.0]}, {"values": [float("inf")]}, {"scale": "x"}, {"turn": [[1.0]]}],
)
def test_a_file_with_a_sum_that_does_not_fit_is_refused(run, change):
    from dpsyn_core.estimate.marginals.model_sums import packed_sum

    entry = packed_sum(run[2].sums[0])
    assert isinstance(parsed_sum(entry, SCHEMA.domain()), ModelSum)
    with pytest.raises((ValueError, KeyError, TypeError)):
        parsed_sum(entry | change, SCHEMA.domain())
    terms = entry["model"] | {"terms": [["a", [999]]]}
    with pytest.raises(ValueError, match="does not fit"):
        parsed_sum(entry | {"model": terms}, SCHEMA.domain())
    with pytest.raises(TableError, match="does not hold released marginals"):
        raise_from(entry | change)


def raise_from(entry):
    from dpsyn_core.estimate.marginals.released_file import parsed_tables

    parsed_tables({"measurements": [], "sums": [entry]}, SCHEMA.domain(), "x.json.gz")


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_a_manifest_that_paid_less_than_the_sums_show_is_found(run, neighbours):
    _, gate, measured = run if neighbours == "add-remove" else released(neighbours=neighbours, n=600, asked=(DIED,))
    charges = [ChargeRecord.of(c) for c in gate.account.charges]
    assert not underpaid(charges, gate.unit, measured)
    bold = measured.like(measured)
    bold.sums = tuple(replace(s, sigma=s.sigma / 1.5) for s in measured.sums)
    assert any("sum of the model 'deaths'" in s for s in underpaid(charges, gate.unit, bold))
    without = [c for c in charges if c.kind != "sum"]
    assert any("sum of the model" in s for s in underpaid(without, gate.unit, measured))
    assert isinstance(gate.account.charges[0], Charge)
