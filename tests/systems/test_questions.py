"""What every system does with declared questions: takes them as its workload within its cost, or refuses at once."""

import numpy as np
import pytest

from dpsyn_core.errors import MethodError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.questions.compile import workload_of
from dpsyn_core.questions.document import Questions
from dpsyn_core.runs.price import plan_of
from dpsyn_core.schema.document import Schema
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import config_class, configure, names
from dpsyn_core.systems.rls.evidence import total_of
from tests.systems.harness import PlainCounter, SeededNoise, TapeGate, WatchingGate, random_codes
from tests.systems.test_contract import MINI, spent_by_step

SIZES = {"a": 3, "b": 2, "c": 4, "d": 6}
N = 200
SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "small",
        "attributes": [
            {"name": n, "kind": "numeric", "dtype": "integer", "min": 0, "max": k - 1, "bins": {"count": k}}
            if k > 3
            else {"name": n, "kind": "categorical", "values": [f"{n}{i}" for i in range(k)]}
            for n, k in SIZES.items()
        ],
    }
)
ASKED = Questions.of(
    [
        {"name": "gap", "kind": "gap", "of": "d", "by": ["a"], "between": {"b": ["b0", "b1"]}},
        {"name": "table", "kind": "table", "of": ["a", "c"], "bins": {"c": {"width": 2}}},
        {"name": "range", "kind": "range", "where": "c in [0, 1] and a = a2"},
        {"name": "alone", "kind": "mean", "of": "d"},
        {"name": "predict", "kind": "predict", "of": "b"},
    ]
)
TAKING = [n for n in names() if config_class(n).takes_questions]


def task_of(name, *, share=None, neighbours=None, pure=None, theta=1, asked=ASKED, epsilon=2.0):
    g = config_class(name).guarantee
    pure = (not g.approximate) if pure is None else pure
    return Task(
        domain=SCHEMA.domain(),
        unit=Unit(neighbours=neighbours or g.neighbours[0], max_records=theta),
        budget=Budget(epsilon=epsilon, delta=0.0 if pure else 1e-6),
        n_public=N if g.needs_public_n else None,
        workload=workload_of(asked, SCHEMA, share),
    )


def measured(name, task, *, gate_class=Gate, n=N, seed=0):
    system = configure(name, MINI.get(name, {})).calibrate(task)
    counter = PlainCounter(random_codes(SIZES, n, seed), task.domain, guard=gate_class is WatchingGate)
    kwargs = {"account": Account(system.cost), "noise": SeededNoise(seed + 1), "unit": task.unit}
    gate = WatchingGate(counter, **kwargs) if gate_class is WatchingGate else gate_class(**kwargs)
    return system, gate, system.measure(counter, gate=gate)


def test_the_systems_of_the_issue_take_questions():
    assert set(TAKING) == {"rls", "dpsyn", "privsyn", "priview", "aim", "mst", "mwem"}


@pytest.mark.parametrize("name", [n for n in names() if n not in TAKING])
def test_the_others_refuse_questions_in_one_sentence_and_serve_a_share_of_zero(name):
    config = configure(name, MINI.get(name, {}))
    with pytest.raises(MethodError, match=f"{name} takes no questions") as refusal:
        config.check(task_of(name))
    assert "'rls'" in str(refusal.value)
    assert task_of(name, share=0).workload is None
    config.check(task_of(name, share=0))


def served():
    for name in TAKING:
        g = config_class(name).guarantee
        for neighbours in g.neighbours:
            yield from ((name, neighbours, pure) for pure, ok in ((True, g.pure), (False, g.approximate)) if ok)


@pytest.mark.parametrize(("name", "neighbours", "pure"), list(served()))
def test_charges_with_questions_lie_inside_the_plan_and_within_the_stated_cost(name, neighbours, pure):
    for theta, share in ((1, None), (1 if config_class(name).guarantee.one_record else 3, 0.3)):
        task = task_of(name, share=share, neighbours=neighbours, pure=pure, theta=theta)
        made = plan_of(configure(name, MINI.get(name, {})).calibrate(task), task, n_records=N)
        system, gate, released = measured(name, task, n=N)
        whole = system.cost.epsilon if system.cost.pure else system.cost.rho
        assert 0.98 * whole <= gate.account.spent <= whole * (1 + 1e-9)
        for step, own in spent_by_step(made, gate.account.charges):
            spent = sum(c.epsilon if system.cost.pure else c.rho for c in own) / whole
            slack = 0.2 if step.about else 1e-9
            assert step.parts[0] <= len(own) <= step.parts[1], step
            assert step.share[0] * (1 - slack) - 1e-9 <= spent <= step.share[1] * (1 + slack) + 1e-9, step
        out = system.synthesize(released, 25, rng=np.random.default_rng(0))
        assert out.shape == (4, 25) and (out < np.array(list(SIZES.values()))[:, None]).all()


@pytest.mark.parametrize("name", TAKING)
def test_nothing_is_counted_for_questions_outside_the_gate(name):
    measured(name, task_of(name), gate_class=WatchingGate)


@pytest.mark.parametrize("name", TAKING)
def test_with_questions_too_a_constant_tape_gives_the_same_records_for_any_table(name):
    outputs = []
    for n, seed in ((N, 1), (3, 2)):
        system, _, released = measured(name, task_of(name), gate_class=TapeGate, n=n, seed=seed)
        outputs.append(system.synthesize(released, 20, rng=np.random.default_rng(3)))
    assert outputs[0].tobytes() == outputs[1].tobytes()


@pytest.mark.parametrize("share", [0.001, 0.25, 0.999, 1.0])
@pytest.mark.parametrize("pure", [False, True])
def test_rls_spends_the_share_that_was_asked_for_on_questions(share, pure):
    system, gate, released = measured("rls", task_of("rls", share=share, pure=pure))
    own = [c for c in gate.account.charges if c.kind == "question"]
    amount = (lambda c: c.epsilon) if pure else (lambda c: c.rho)
    spent = sum(map(amount, own))
    totals = [m for m in released if not m.attributes]
    about = {"total": total_of(totals, None), "again": len(totals) > 1}
    plan = system.budget_plan(**about)
    would = plan.whole
    assert spent == pytest.approx(amount(plan.questions), rel=1e-9)
    assert sum(map(amount, gate.account.charges)) == pytest.approx(amount(would), rel=0.02)
    without = configure("rls", {}).calibrate(task_of("rls", share=0, pure=pure))
    pairs = amount(without.budget_plan(**about).pairs)
    # four of five questions need tables of their own; the fifth is a prediction, whose pairs compete with all others
    assert spent == pytest.approx(4 / 5 * share * pairs, rel=1e-9)


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("name", TAKING)
def test_no_record_and_one_record_are_served_with_questions(name, n):
    task = task_of(name)
    system, _, released = measured(name, task, n=n)
    assert system.synthesize(released, 5, rng=np.random.default_rng(0)).shape == (4, 5)
