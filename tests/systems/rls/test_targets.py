"""A declared target: pairs of what it is predicted from are measured together with it, and kept class by class."""

import numpy as np
import pytest

from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.questions.document import Questions
from dpsyn_core.schema.document import Schema
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.rls import system
from tests.seeded import SeededNoise

BINS = {"kind": "numeric", "dtype": "integer", "min": 0, "max": 47, "bins": {"count": 48}}
DOCUMENT = {
    "version": 1,
    "name": "classes",
    "attributes": [
        {"name": "x", **BINS},
        {"name": "y", **BINS},
        {"name": "u", "kind": "categorical", "values": ["a", "b", "c"]},
        {"name": "class", "kind": "categorical", "values": ["no", "yes"]},
    ],
}
SCHEMA = Schema.of(DOCUMENT)


def records(n=6_000):
    """x and y go together in one class alone; u follows x in both."""
    rng = np.random.default_rng(0)
    of_class = rng.random(n) < 0.4
    x = rng.normal(size=n)
    y = np.where(of_class, 0.95 * x + 0.31 * rng.normal(size=n), rng.normal(size=n))
    u = np.digitize(x + 0.5 * rng.normal(size=n), [-0.5, 0.5])
    bins = [np.clip(np.rint(24 + 7 * v), 0, 47) for v in (x, y)]
    return np.stack([*bins, u, of_class]).astype(np.uint8)


def run(asked, *, epsilon=10.0, made=True, codes=None, schema=SCHEMA):
    task = Task.of(schema, Budget(epsilon=epsilon, delta=1e-9), questions=Questions.of(asked).checked(schema))
    system = configure("rls", {"triples": False}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=task.unit)
    counter = MemoryCounter(records() if codes is None else codes, task.domain)
    measured = system.measure(counter, gate=gate)
    return measured, gate, system.synthesize(measured, 3_000, rng=np.random.default_rng(2)) if made else None


PREDICT = [{"name": "who", "kind": "predict", "of": "class"}]


def test_two_numbers_that_a_target_is_predicted_from_are_measured_with_it_and_other_pairs_as_before():
    told, gate, _ = run(PREDICT, made=False)
    wide = {m.attributes for m in told if len(m.attributes) == 3}
    assert wide == {("x", "y", "class")}
    assert ("x", "u") in {m.attributes for m in told}
    assert ("x", "y") not in {m.attributes for m in told}
    assert sum(c.rho for c in gate.account.charges) <= gate.account.limit * (1 + 1e-9)
    from_x = run([{**PREDICT[0], "from": ["x", "u"]}], made=False)[0]
    assert all(len(m.attributes) <= 2 for m in from_x)


def test_two_numbers_that_go_together_in_one_class_do_so_in_the_records_of_that_class_alone():
    rows = run(PREDICT)[2].astype(float)
    by_class = [np.corrcoef(rows[:2, rows[3] == c])[0, 1] for c in (0, 1)]
    assert by_class[1] > 0.8
    assert abs(by_class[0]) < 0.15
    without = run([])[2].astype(float)
    assert abs(np.corrcoef(without[:2, without[3] == 0])[0, 1]) > 0.2  # the pair alone says the same of both


def test_pairs_with_a_target_compete_in_the_one_selection_and_get_more_of_the_budget():
    codes = records()
    codes[2] = np.where(np.arange(codes.shape[1]) % 4, codes[3], 2)
    told, gate, _ = run([{**PREDICT[0], "from": ["u"]}], epsilon=1.0, made=False, codes=codes)
    assert "question" not in {c.kind for c in gate.account.charges}
    found = {m.attributes: m.sigma for m in told}
    usual = {m.attributes: m.sigma for m in run([], epsilon=1.0, made=False, codes=codes)[0]}
    assert found["u", "class"] < 0.9 * usual["u", "class"]
    assert found["x", "y"] > usual["x", "y"]


def test_classes_of_a_target_stay_apart_in_its_pairs_however_rare():
    attributes = [a for a in DOCUMENT["attributes"] if a["name"] != "class"]
    rare = [{"name": "class", "kind": "categorical", "values": [f"c{i}" for i in range(8)]}]
    schema = Schema.of({**DOCUMENT, "attributes": [*attributes, *rare]})
    codes = records()
    codes[3] = np.where(np.arange(codes.shape[1]) % 100 == 0, np.arange(codes.shape[1]) // 100 % 7 + 1, 0)
    codes[2] = np.where(codes[3] > 0, 2, codes[2] % 2)

    def classes(asked):
        tables = run(asked, epsilon=2.0, made=False, codes=codes, schema=schema)[0]
        return [m.values.shape[1] for m in tables if m.attributes == ("u", "class")]

    assert classes(PREDICT) == [8]
    assert all(found < 8 for found in classes([]))  # some are merged


def test_a_target_of_many_values_leaves_pairs_as_they_are():
    told = run([{"name": "x", "kind": "predict", "of": "x"}], made=False)[0]
    assert all(len(m.attributes) <= 2 for m in told)


def test_wide_sets_with_a_target_of_many_values_count_as_much_as_its_pairs(monkeypatch):
    """Pairs alone counted four times as much, which took from the sets that a letter is told by."""
    seen, search = [], system.Search

    def kept(view, plan, cost, target, weight):
        seen.append((target, weight))
        return search(view, plan, cost, target, weight)

    monkeypatch.setattr(system, "Search", kept)
    run([{"name": "x", "kind": "predict", "of": "x"}], made=False)
    run([], made=False)
    assert seen == [("x", 4.0), (None, 1.0)]


@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_where_scores_of_all_pairs_would_be_noise_those_of_columns_that_tell_of_the_target_are_scored(delta):
    """Of 40 columns three follow the target: at a small budget few pairs are scored, and theirs are among them."""
    names = [f"c{i}" for i in range(40)]
    attributes = [{"name": n, "kind": "categorical", "values": ["a", "b"]} for n in ["t", *names]]
    schema = Schema.of({"version": 1, "name": "many", "attributes": attributes})
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (41, 8_000)).astype(np.uint8)
    for told in (5, 17, 33):
        codes[told] = np.where(rng.random(8_000) < 0.9, codes[0], codes[told])
    asked = Questions.of([{"name": "t", "kind": "predict", "of": "t"}]).checked(schema)

    def scored(epsilon, questions):
        task = Task.of(schema, Budget(epsilon=epsilon, delta=delta), questions=questions, questions_share=0.5)
        system = configure("rls", {"triples": False}).calibrate(task)
        gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=task.unit)
        return system.measure(MemoryCounter(codes, task.domain), gate=gate).scores.sets

    some = scored(20.0 if delta == 0 else 0.5, asked)
    assert 1 <= len(some) < 41 * 40 / 2
    assert {("c4", "c16"), ("c4", "c32"), ("c16", "c32")} & set(some)
    assert len(scored(1_000.0 if delta == 0 else 50.0, asked)) == 41 * 40 / 2
    assert len(scored(20.0 if delta == 0 else 0.5, None)) == 41 * 40 / 2
    from_one = Questions.of([{"name": "t", "kind": "predict", "of": "t", "from": ["c3"]}]).checked(schema)
    assert len(scored(20.0 if delta == 0 else 0.5, from_one)) == 41 * 40 / 2  # not for the sake of one column


def test_a_forecast_names_the_step_of_questions_where_some_are_asked():
    attributes = [{"name": n, "kind": "categorical", "values": ["a", "b"]} for n in "tu"]
    schema = Schema.of({"version": 1, "name": "two", "attributes": attributes})
    asked = Questions.of([{"name": "both", "kind": "table", "of": ["t", "u"]}]).checked(schema)
    for questions, share in ((asked, 0.5), (None, None)):
        task = Task.of(schema, Budget(epsilon=1.0, delta=1e-9), questions=questions, questions_share=share)
        steps = configure("rls", {}).calibrate(task).steps(1_000.0)
        assert ("question" in [s.kind for s in steps]) == (questions is not None)
