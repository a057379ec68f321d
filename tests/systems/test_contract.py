"""The contract that every registered system keeps, on tiny tables."""

import itertools

import numpy as np
import pytest

from dpsyn_core.errors import DPSynError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.systems.dry_run import plan
from dpsyn_core.systems.registry import config_class, configure, names
from dpsyn_core.systems.settings import fields_of
from tests.systems.harness import PlainCounter, SeededNoise, TapeGate, WatchingGate, random_codes, run, task_for

# the smallest configuration of a system that still takes every step; keeps a run at a few milliseconds
TRAINED = {"steps": 3, "hidden": 4, "sampling": 0.2}
MINI = {
    "mwem": {"replays": 10, "rounds": 4},
    "p3gm": TRAINED | {"iterations": 2},
    "p3gm-ae": TRAINED | {"iterations": 2},
    "dp-vae": TRAINED | {"latent": 2, "encoder_hidden": 3},
    "dp-gm": TRAINED | {"latent": 2, "encoder_hidden": 3, "iterations": 2},
}
SIZES = {"a": 3, "b": 2, "c": 4}
N = 40


def supported():
    """(name, neighbours, pure) of all that the systems promise."""
    for name in names():
        g = config_class(name).guarantee
        kinds = [pure for pure, offered in ((True, g.pure), (False, g.approximate)) if offered]
        yield from ((name, n, p) for n, p in itertools.product(g.neighbours, kinds))


@pytest.mark.parametrize(("name", "neighbours", "pure"), list(supported()))
def test_codes_fit_the_domain_and_every_charge_is_part_of_the_stated_cost(name, neighbours, pure):
    for theta in (1,) if config_class(name).guarantee.one_record else (1, 3):
        task = task_for(name, SIZES, N, neighbours=neighbours, theta=theta, pure=pure)
        out, gate, system = run(name, task, random_codes(SIZES, N), settings=MINI.get(name), n_records=25)
        assert out.shape == (3, 25)
        assert out.dtype == np.uint8
        assert (out.max(axis=1) < np.array([3, 2, 4])).all()
        assert system.cost.pure or not pure
        stated = system.cost.epsilon if system.cost.pure else system.cost.rho
        assert 0.98 * stated <= gate.account.spent <= stated * (1 + 1e-9)


@pytest.mark.parametrize("name", names())
def test_the_same_rng_gives_the_same_records_and_another_size_is_free(name):
    task = task_for(name, SIZES, N)
    system = configure(name, MINI.get(name, {})).calibrate(task)
    _, gate, _ = run(name, task, random_codes(SIZES, N), settings=MINI.get(name))
    spent = gate.account.spent
    counter = PlainCounter(random_codes(SIZES, N), task.domain)
    gate.account.charges.clear()
    gate.account.cap = system.cost
    measured = system.measure(counter, gate=gate)
    first = system.synthesize(measured, 30, rng=np.random.default_rng(5))
    again = system.synthesize(measured, 30, rng=np.random.default_rng(5))
    assert (first == again).all()
    assert system.synthesize(measured, 0, rng=np.random.default_rng(5)).shape == (3, 0)
    assert system.synthesize(measured, 1, rng=np.random.default_rng(5)).shape == (3, 1)
    assert gate.account.spent == pytest.approx(spent, rel=0.05)


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("n", [0, 1])
def test_no_record_and_one_record_are_served(name, n):
    out, _, _ = run(name, task_for(name, SIZES, n), random_codes(SIZES, n), settings=MINI.get(name))
    assert out.shape[0] == 3
    assert (out < np.array([[3], [2], [4]])).all()


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("sizes", [{"a": 3}, {"a": 1}, {"a": 1, "b": 3}, {"a": 1, "b": 1, "c": 1}])
def test_one_attribute_and_attributes_of_one_code_are_served(name, sizes):
    task = task_for(name, sizes, 12)
    try:
        out, _, _ = run(name, task, random_codes(sizes, 12), settings=MINI.get(name), n_records=9)
    except DPSynError as refusal:
        if name != "field-groups":
            raise
        assert "group" in str(refusal)
        return
    assert out.shape == (len(sizes), 9)
    assert (out < np.array(list(sizes.values()))[:, None]).all()


@pytest.mark.parametrize("name", names())
def test_tables_without_a_positive_cell_still_give_records(name):
    task = task_for(name, SIZES, N)
    noise = SeededNoise(3, shift=-(10**6))
    out, _, _ = run(name, task, random_codes(SIZES, N), settings=MINI.get(name), noise=noise, n_records=7)
    assert out.shape == (3, 7)


@pytest.mark.parametrize("name", names())
def test_nothing_is_counted_outside_the_gate(name):
    task = task_for(name, SIZES, N)
    out, _, _ = run(name, task, random_codes(SIZES, N), settings=MINI.get(name), n_records=5, gate_class=WatchingGate)
    assert out.shape == (3, 5)


@pytest.mark.parametrize("name", names())
def test_a_constant_tape_gives_the_same_records_for_any_table(name):
    outputs = []
    for n, seed in ((N, 1), (3, 2)):
        task = task_for(name, SIZES, N)
        codes = random_codes(SIZES, n, seed)
        outputs.append(run(name, task, codes, settings=MINI.get(name), gate_class=TapeGate)[0])
    assert outputs[0].tobytes() == outputs[1].tobytes()


@pytest.mark.parametrize("name", names())
def test_what_a_system_does_not_promise_is_refused_before_anything_is_charged(name):
    g = config_class(name).guarantee
    config = configure(name, MINI.get(name, {}))
    wrong = [task_for(name, SIZES, N, neighbours=n) for n in ("add-remove", "replace") if n not in g.neighbours]
    wrong += [task_for(name, SIZES, N, theta=2)] * g.one_record
    wrong += [
        task_for(name, SIZES, N, pure=p) for p, offered in ((True, g.pure), (False, g.approximate)) if not offered
    ]
    for task in wrong:
        with pytest.raises(DPSynError) as refusal:
            config.calibrate(task)
        assert any(f"'{other}'" in str(refusal.value) for other in ("rls", "independent", "0")) or "delta" in str(
            refusal.value
        )


def spent_by_step(made, charges):
    """Each step with the charges that are its own: the first step that can hold a charge and is not yet full."""
    taken = [[] for _ in made.steps]
    for charge in charges:
        own = next((i for i, s in enumerate(made.steps) if s.holds(charge.kind) and len(taken[i]) < s.parts[1]), None)
        assert own is not None, f"the plan has no room for {charge.name}"
        taken[own].append(charge)
    return list(zip(made.steps, taken, strict=True))


@pytest.mark.parametrize(("sizes", "epsilon"), [(SIZES, 2.0), ({"a": 30, "b": 2, "c": 9, "d": 12, "e": 3}, 0.3)])
@pytest.mark.parametrize(("name", "neighbours", "pure"), list(supported()))
def test_what_a_run_charges_lies_inside_its_plan(name, neighbours, pure, sizes, epsilon):
    most = 1 if config_class(name).guarantee.one_record else 3
    for seed, (n, theta) in enumerate(((3000, 1), (40, most))):
        if name == "mwem" and len(sizes) > 3:
            sizes = {k: min(v, 6) for k, v in sizes.items()}
        task = task_for(name, sizes, n, neighbours=neighbours, theta=theta, pure=pure, epsilon=epsilon)
        made = plan(name, MINI.get(name, {}), task, n_records=n)
        system = configure(name, MINI.get(name, {})).calibrate(task)
        gate = Gate(account=Account(system.cost, delta=system.failure), noise=SeededNoise(seed), unit=task.unit)
        system.measure(PlainCounter(random_codes(sizes, n, seed), task.domain), gate=gate)
        assert made.cost == system.cost
        whole = system.cost.epsilon if system.cost.pure else system.cost.rho
        for step, own in spent_by_step(made, gate.account.charges):
            share = sum(c.epsilon if system.cost.pure else c.rho for c in own) / whole
            slack = (0.2 if n > 100 else 0.4) if step.about else 1e-9  # a noisy total decides there, of 40 records too
            assert step.parts[0] <= len(own) <= step.parts[1], step
            assert step.share[0] * (1 - slack) - 1e-9 <= share <= step.share[1] * (1 + slack) + 1e-9, step
            if step.sigma is not None and not step.about:
                assert all(step.sigma[0] * (1 - 1e-9) <= c.scale <= step.sigma[1] * (1 + 1e-9) for c in own), step
            if step.sigma is not None and step.likely is None:
                assert all(step.cells[0] <= c.cells <= step.cells[1] for c in own), step
        assert sum(s.share[0] for s in made.steps) <= 1 + 1e-9
        # where few records leave it open whether there will be pairs, one-ways may get all
        assert 0.98 < sum(s.share[1] for s in made.steps) < 1.8


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("sizes", [{"a": 3}, {"a": 3, "b": 2}])
def test_a_plan_of_one_or_two_attributes_holds_too(name, sizes):
    task = task_for(name, sizes, 300)
    try:
        made = plan(name, MINI.get(name, {}), task, n_records=300)
    except DPSynError as refusal:
        assert "group" in str(refusal)
        return
    system = configure(name, MINI.get(name, {})).calibrate(task)
    gate = Gate(account=Account(system.cost, delta=system.failure), noise=SeededNoise(4), unit=task.unit)
    system.measure(PlainCounter(random_codes(sizes, 300), task.domain), gate=gate)
    for step, own in spent_by_step(made, gate.account.charges):
        assert step.parts[0] <= len(own) <= step.parts[1], step


def test_a_plan_is_not_misled_by_the_names_of_attributes():
    task = task_for("independent", {"height x width": 3, "scores of the team": 2}, N)
    (step,) = plan("independent", {}, task).steps
    assert (step.kind, step.parts) == ("1-way", (2, 2))


def test_a_plan_of_independent_names_every_charge():
    task = task_for("independent", SIZES, N)
    made = plan("independent", {}, task)
    assert [c.name for c in made.charges] == ["marginal a", "marginal b", "marginal c"]
    assert made.steps[0].parts == (3, 3)
    assert made.k(made.steps[0]) == pytest.approx(3, rel=1e-9)


@pytest.mark.parametrize("name", names())
def test_every_system_says_what_it_is_and_every_setting_has_a_help_text(name):
    cls = config_class(name)
    assert len(cls.summary) > 30
    assert "DP" in cls.guarantee.text
    for field in fields_of(cls).values():
        assert field.description
        assert field.title
