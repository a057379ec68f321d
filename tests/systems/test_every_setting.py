"""No setting without an effect: for each of them there is a table on which it changes what comes out.

Noise and post-processing have the same seeds in both runs, so that nothing but the setting can make a difference.
"""

import functools
import json

import numpy as np
import pytest

from dpsyn_core.errors import DPSynError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.unprotected import UnprotectedGate
from dpsyn_core.privacy.account import Account
from dpsyn_core.systems import registry
from dpsyn_core.systems.independent import IndependentConfig
from dpsyn_core.systems.others.dpsyn2018.design import BudgetRange, Design
from dpsyn_core.systems.registry import UNPROTECTED, config_class, configure, names
from dpsyn_core.systems.settings import fields_of
from tests.left_out import DEEP
from tests.systems.harness import PlainCounter, SeededNoise, task_for
from tests.systems.setting_cases import DESIGNS, EPSILON, RANGES, SMALL, TABLES, Case, case_of, near

SYSTEMS = [*names(), *UNPROTECTED]


@functools.cache
def made(name, written, table, epsilon, marginal):
    """The bytes of the records, or of a marginal, that a run with these settings (JSON) gives."""
    sizes, codes = TABLES[table]()
    task = task_for(name, sizes, codes.shape[1], epsilon=epsilon)
    system = configure(name, json.loads(written)).calibrate(task)
    gate_class = UnprotectedGate if config_class(name).unprotected else Gate
    account = Account(system.cost, delta=system.failure)
    gate = gate_class(account=account, noise=SeededNoise(1), unit=task.unit)
    measured = system.measure(PlainCounter(codes, task.domain), gate=gate)
    if marginal:
        return system.marginal(measured, marginal).values.tobytes()
    return system.synthesize(measured, None, rng=np.random.default_rng(0)).tobytes()


def refusal(name, settings, case):
    """The sentence that refuses a run; empty when it is not refused."""
    try:
        made(name, json.dumps(settings), case.table, case.epsilon, case.marginal)
    except DPSynError as error:
        return str(error)
    return ""


def changes(name, setting):
    """Whether some value of the setting changes the output, or is refused as its case says."""
    base = dict(SMALL.get(name, {}))
    case = case_of(name, setting)
    if case is None:
        prop = fields_of(config_class(name))[setting]
        cases = [Case(value=v) for v in near(prop, base.get(setting, prop.default))]
    else:
        cases = [case]
    for c in cases:
        beside = base | dict(c.beside)
        tried = beside | {setting: c.value}
        epsilon = EPSILON.get(name, c.epsilon)
        if c.refused:
            return c.refused in refusal(name, tried, c)
        run = functools.partial(made, name, table=c.table, epsilon=epsilon, marginal=c.marginal)
        try:
            if run(written=json.dumps(beside)) != run(written=json.dumps(tried)):
                return True
        except DPSynError:  # a value that this setting does not take; a case of its own says which it does
            if case is not None:
                raise
    return False


def mark(name, setting):
    """What trains a network, and the other engine of graphical models, which takes seconds to start."""
    if name in DEEP or name in UNPROTECTED:
        return pytest.mark.deep
    return pytest.mark.slow if setting == "engine" else ()


EVERY = [pytest.param(n, s, marks=mark(n, s)) for n in SYSTEMS for s in fields_of(config_class(n))]


@pytest.mark.parametrize(("name", "setting"), EVERY)
def test_every_setting_of_every_system_changes_the_output_on_some_table(name, setting):
    assert changes(name, setting), f"'{setting}' of {name} reaches nothing: wire it or delete it"


def test_a_setting_that_reaches_nothing_is_found(monkeypatch):
    class Idle(IndependentConfig):
        spare: int = 3

    Idle.name = "idle"
    monkeypatch.setitem(registry.MODULES, "idle", IndependentConfig.__module__)
    monkeypatch.setitem(registry._configs, "idle", Idle)
    assert not changes("idle", "spare")


def records(design):
    return made("dpsyn-2018", json.dumps({"design": design}), "plain", 2.0, ())


@pytest.mark.parametrize("part", Design.model_fields)
def test_every_part_of_a_design_changes_the_output(part):
    value, beside = DESIGNS[part]
    assert records(beside | {part: value}) != records(beside)


@pytest.mark.parametrize("part", [p for p in BudgetRange.model_fields if p != "epsilon"])
def test_every_part_of_a_range_of_budgets_changes_the_output_from_its_epsilon_on(part):
    value, beside = RANGES[part]
    before, reached, above = (
        records(beside | {"budgets": [{"epsilon": epsilon, part: value}]} if epsilon else beside)
        for epsilon in (None, 2.0, 2.1)
    )
    assert reached != before == above
