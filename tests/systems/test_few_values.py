"""Systems that tell every value apart run on few values of numbers that have many bins, at unchanged charges."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening, coarse_domain
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.measure.counting.base import occupied
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.questions.document import Questions
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.few_values import FewValues, MergedCounter
from dpsyn_core.systems.registry import config_class, configure
from tests.seeded import SeededNoise

FINE = Domain(
    (
        CodedAttribute(name="a", size=401, ordered=True, special=1, number=True, group="g"),
        CodedAttribute(name="b", size=300, ordered=True, number=True, group="g"),
        CodedAttribute(name="c", size=3),
    )
)
MERGING = ("dpsyn", "privsyn", "priview", "privbayes", "dirichlet-multinomial", "field-groups", "mwem")


def people(n=3000):
    rng = np.random.default_rng(5)
    a = np.clip(rng.normal(200, 40, n), 0, 399).astype(np.uint16)
    b = np.clip(a * 0.5 + rng.normal(0, 3, n), 0, 299).astype(np.uint16)
    return np.stack([np.where(rng.random(n) < 0.02, 400, a), b, rng.integers(0, 3, n)]).astype(np.uint16)


def run(name, domain, codes, settings=None):
    g = config_class(name).guarantee
    task = Task(
        domain=domain, unit=Unit(neighbours=g.neighbours[0]),
        budget=Budget(epsilon=5.0, delta=1e-6 if g.approximate else 0.0), n_public=3000 if g.needs_public_n else None,
    )  # fmt: skip
    system = configure(name, settings or {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(3), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    return system, measured, gate.account.charges


@pytest.mark.parametrize("name", MERGING)
def test_charges_are_those_of_a_schema_with_as_many_bins(name):
    settings = {"max_cells": 5000, "rounds": 2} if name == "mwem" else {}
    codes = people()
    system, measured, charges = run(name, FINE, codes, settings)
    assert isinstance(system, FewValues) and system.cost == system.inner.cost
    coarse = np.stack(
        [system.recodes[n].map[c] if n in system.recodes else c for n, c in zip("abc", codes, strict=True)]
    )
    plain, _, same = run(name, system.merged, coarse.astype(np.uint16), settings)
    assert type(plain) is type(system.inner) and charges == same
    made = system.synthesize(measured, 500, rng=np.random.default_rng(0))
    assert made.shape == (3, 500) and (made.max(axis=1) < np.array(FINE.sizes)).all()
    assert len(np.unique(made[1])) > 40  # fine values, not one for each merged value


def test_released_marginals_say_which_values_were_counted_together():
    system, measured, _ = run("dpsyn", FINE, people())
    pair = next(m for m in measured if m.attributes == ("a", "b"))
    assert pair.values.shape == (33, 32) and len(pair.recodes["b"].map) == 300
    own = system._inward(pair)
    assert not own.recodes and own.values is pair.values


def test_fine_values_of_dependent_numbers_are_handed_out_in_the_order_of_each_other():
    system, measured, _ = run("dpsyn", FINE, people(20_000))
    made = system.synthesize(measured, 20_000, rng=np.random.default_rng(0)).astype(float)
    real = made[:, made[0] < 400]
    inside = real[0] % 12.5 - 6, real[1] % 9.375 - 5
    assert np.corrcoef(real[0], real[1])[0, 1] > 0.9 and np.corrcoef(*inside)[0, 1] > 0.03


def test_coarse_maps_of_a_system_go_through_the_merged_values():
    quarters = {"a": Coarsening.even(FINE["a"], 4)}
    counter = MergedCounter(MemoryCounter(people(), FINE), coarse_domain(FINE, quarters), quarters)
    halves = Coarsening.of([0, 0, 1, 1, 2])
    assert (counter.marginal(("a",), {"a": halves}) == np.add.reduceat(counter.marginal(("a",)), [0, 2, 4])).all()
    index, counts = occupied(counter, ("a", "c"))
    assert (counter.marginals([("a", "c")])[0].ravel()[index] == counts).all() and counts.sum() == 3000


def test_numbers_of_few_bins_are_left_alone():
    small = Domain((CodedAttribute(name="a", size=99, ordered=True, number=True), FINE["c"]))
    assert not isinstance(configure("dpsyn", {}).calibrate(Task(domain=small, unit=Unit(), budget=Budget(epsilon=1.0, delta=1e-6))), FewValues)  # fmt: skip  # noqa: E501
    assert configure("mst", {}).working_domain(FINE) is FINE


def test_mst_merges_neighbouring_bins_by_what_it_released():
    system, measured, _ = run("mst", FINE, people(20_000))
    recode = measured.recodes["a"].map[:400]
    assert (np.diff(recode) >= 0).all() and 10 < recode.max() < 60
    made = system.synthesize(measured, None, rng=np.random.default_rng(0))
    assert np.corrcoef(made[0][made[0] < 400], made[1][made[0] < 400])[0, 1] > 0.9
    assert isinstance(measured.measurements[0], Measurement)


ASKED = Schema.of(
    {
        "version": 1,
        "name": "fine numbers",
        "attributes": [
            {"name": "a", "kind": "numeric", "dtype": "integer", "min": 0, "max": 399, "bins": {"count": 400}},
            {"name": "b", "kind": "numeric", "dtype": "integer", "min": 0, "max": 299, "bins": {"count": 300}},
            {"name": "c", "kind": "categorical", "values": ["x", "y", "z"]},
        ],
        "questions": [
            {"name": "mean", "kind": "mean", "of": "a", "by": ["c"]},
            {"name": "young", "kind": "range", "where": "a in [100, 180] and b in [40, 90]"},
            {"name": "tens", "kind": "table", "of": ["b", "c"], "bins": {"b": {"width": 10}}},
        ],
    }
)


@pytest.mark.parametrize("name", ["dpsyn", "privsyn", "priview", "mwem"])
def test_a_declared_question_on_a_number_of_many_bins_is_measured_on_merged_values(name):
    settings = {"max_cells": 100_000, "rounds": 4} if name == "mwem" else {}
    g = config_class(name).guarantee
    budget = Budget(epsilon=8.0, delta=1e-6 if g.approximate else 0.0)
    schema = ASKED if not g.needs_public_n else Schema.of({**ASKED.document(), "n_records": 3000})
    task = Task.of(schema, budget, questions_share=0.5)
    assert task.workload is not None and len(task.workload.needs) == 3
    config = configure(name, settings)
    config.check(task)
    system = config.calibrate(task)
    assert isinstance(system, FewValues)
    codes = np.minimum(people(), np.array([[399], [299], [2]])).astype(np.uint16)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(3), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, task.domain), gate=gate)
    assert gate.account.spent <= (system.cost.epsilon or system.cost.rho) * (1 + 1e-9)
    made = system.synthesize(measured, 3000, rng=np.random.default_rng(0))
    assert made.shape == (3, 3000) and (made.max(axis=1) < np.array(task.domain.sizes)).all()
    nothing = Questions.of([])
    assert Task.of(schema, budget, questions=nothing).workload is None
    for group in range(3):  # the mean that was asked for, to a fortieth of the range
        assert abs(made[0][made[2] == group].mean() - codes[0][codes[2] == group].mean()) < 10
