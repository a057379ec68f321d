"""The head: it sees the other columns only, is paid for by itself, and hands on what they say about the target."""

import numpy as np
import pytest

from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.noise.system import SystemNoise
from dpsyn_core.privacy.account import Account
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.synthesizers.deep.head import LONGEST, Others
from dpsyn_core.synthesizers.registry import configure
from tests.synthesizers.deep.test_parts import DOMAIN, numbers, space
from tests.synthesizers.harness import random_codes, run, task_for

pytestmark = pytest.mark.deep
COLUMNS = {f"x{i}": 8 for i in range(6)} | {"y": 2}


def corners(n):
    """Six numbers without dependence, and a column that says whether two of them are on the same side."""
    rng = np.random.default_rng(31)
    x = rng.integers(0, 8, (6, n))
    return np.concatenate([x, ((x[0] > 3) == (x[1] > 3))[None, :]]).astype(np.uint8)


def agreement(codes):
    """How often the column is what the two numbers say."""
    return float((((codes[0] > 3) == (codes[1] > 3)) == codes[6]).mean())


def test_the_head_sees_nothing_of_the_column_that_it_predicts():
    known = space(numbers(), DOMAIN)
    codes, at = numbers(30), 1
    others = Others.of(known, at)
    changed = codes.copy()
    changed[at] = (codes[at] + 1) % DOMAIN.sizes[at]
    first, second = others(known.features(codes)), others(known.features(changed))
    assert np.array_equal(first, second)
    assert first.shape[1] == known.width - known.blocks[at].features.shape[1]
    assert np.linalg.norm(first, axis=1).max() <= LONGEST * others.length * (1 + 1e-12)
    again = known.featured(known.coarse(codes))
    assert np.array_equal(again, known.features(codes))


def test_a_head_hands_on_a_dependence_that_no_component_shows():
    # epsilon 100: noise is no matter here; without a head every other record agrees
    task = task_for("p3gm", COLUMNS, 1500, epsilon=100.0)
    settings = {"steps": 30, "hidden": 30, "sampling": 0.3, "learning_rate": 0.3, "target": "y", "target_share": 0.5}
    assert agreement(run("p3gm", task, corners(1500), settings=settings)[0]) > 0.8


@pytest.mark.parametrize("columns", [6, 60])
def test_a_head_is_one_more_training_inside_the_same_budget(columns):
    sizes = {f"x{i}": 2 for i in range(columns)}
    names = []
    for target in ("", "x3"):
        system = configure("p3gm", {"target": target, "sampling": 0.1}).calibrate(task_for("p3gm", sizes, 50))
        gate = Gate(account=Account(system.cost, delta=system.failure), noise=SystemNoise(), unit=system.task.unit)
        domain = Domain(tuple(CodedAttribute(name=n, size=2) for n in sizes))
        system.measure(MemoryCounter(random_codes(sizes, 50), domain), gate=gate)
        trained = [c for c in gate.account.charges if c.kind == "training"]
        names.append([c.name for c in trained])
        assert sum(c.delta for c in trained) <= system.failure * (1 + 1e-12)
        assert gate.account.spent <= system.cost.rho * (1 + 1e-9)
        (planned,) = [s for s in system.steps(50) if s.kind == "training"] or [None]
        assert (planned.parts[0] if planned else 0) == len(trained)
    decoder = ["gradients"] if columns == 6 else []
    assert names == [decoder, [*decoder, "gradients of the head"]]
