"""Parts of a design: all that is measured lies inside them, and the plan says what each of them gets."""

import itertools

import numpy as np
import pytest

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.questions.document import Questions
from dpsyn_core.runs.choose.forecast import forecast
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.dry_run import plan
from dpsyn_core.systems.others.dpsyn2018 import views
from dpsyn_core.systems.registry import configure
from tests.systems.harness import PlainCounter, SeededNoise, random_codes, run, task_for
from tests.systems.test_dpsyn2018 import go, noiseless

SIZES = {"a": 3, "b": 4, "c": 5, "d": 3, "e": 4, "f": 5}
PARTS = [["a", "b", "c"], ["d", "e", "f"]]


def followed(n, seed=0):
    """In each of the two parts every attribute follows the first one, nine times in ten."""
    rng = np.random.default_rng(seed)
    rows = []
    for i, size in enumerate(SIZES.values()):
        fresh = rng.integers(0, size, n)
        rows.append(fresh if i % 3 == 0 else np.where(rng.random(n) < 0.9, (rows[i - i % 3] + i) % size, fresh))
    return np.array(rows, dtype=np.uint8)


def measured_sets(design, codes, domain, **settings):
    """Names of all releases but the one-ways."""
    _, names, _ = go(codes, domain, design=design, n_records=10, **settings)
    return [n.removeprefix("marginal ") for n in names if " x " in n]


def charged(design, codes, task, **settings):
    """The plan of a run and its charges."""
    settings = {"design": design, **settings}
    system = configure("dpsyn-2018", settings).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=task.unit)
    system.measure(PlainCounter(codes, task.domain), gate=gate)
    return plan("dpsyn-2018", settings, task), gate.account.charges


def test_all_pairs_and_triples_under_the_cap_are_measured_inside_parts_and_none_across():
    domain, codes = Domain.of(SIZES), followed(2000)
    found = measured_sets({"parts": PARTS}, codes, domain)
    assert sorted(found) == sorted(
        " x ".join(s) for part in PARTS for k in (2, 3) for s in itertools.combinations(part, k)
    )
    small = measured_sets({"parts": PARTS}, codes, domain, view_cells=20)
    assert sorted(small) == sorted(" x ".join(s) for part in PARTS for s in itertools.combinations(part, 2))


def test_a_set_that_two_parts_hold_is_measured_once():
    found = measured_sets({"parts": [["a", "b", "c"], ["b", "c", "d", "e", "f"]]}, followed(500), Domain.of(SIZES))
    assert len(found) == len(set(found)) == 3 + 1 + 10 + 10 - 1


def test_pairs_inside_parts_come_out_close():
    """Views drawn from all attributes lost four fifths of the budget, and left pairs as far off as unmeasured ones."""
    codes, domain = followed(5000), Domain.of(SIZES)
    out, _, _ = go(codes, domain, design={"parts": PARTS}, epsilon=1.0)
    for part in PARTS:
        for pair in itertools.combinations(part, 2):
            real, made = (PlainCounter(c, domain).marginal(pair) / c.shape[1] for c in (codes, out))
            assert np.abs(real - made).sum() / 2 < 0.1


@pytest.mark.parametrize(
    ("design", "named"),
    [
        ({"parts": PARTS, "marginals": [{"epsilon": 0, "sets": [["a", "b"], ["c", "d"]]}]}, "c, d"),
        ({"groups": [{"name": "g", "attributes": ["a", "b"]}], "parts": [["g", "c"], ["d", "e", "f"]],
          "marginals": [{"epsilon": 0, "sets": [["a", "f"]]}]}, "a, f"),
        ({"parts": PARTS, "budgets": [{"epsilon": 9, "sets": [["a", "e"]]}]}, "a, e"),
    ],
)  # fmt: skip
def test_a_listed_set_that_lies_in_no_part_is_refused_before_a_charge(design, named):
    with pytest.raises(SettingError, match=f"the set {named} lies in no part"):
        configure("dpsyn-2018", {"design": design}).calibrate(task_for("dpsyn-2018", SIZES, 10))


def test_a_member_of_a_group_lies_where_its_group_does():
    design = {
        "groups": [{"name": "g", "attributes": ["a", "d"]}], "parts": [["g", "b"], ["c", "e", "f"]],
        "marginals": [{"epsilon": 0, "sets": [["d", "b"]]}],
    }  # fmt: skip
    assert measured_sets(design, followed(500), Domain.of(SIZES)) == ["a x d", "d x b"]


@pytest.mark.parametrize("settings", [{}, {"view_cells": 12}, {"view_cells": 2}, {"rare_share": 0.2}])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_a_run_charges_inside_a_part_lies_inside_the_step_of_that_part(settings, delta):
    task = task_for("dpsyn-2018", SIZES, 400, epsilon=1.0, pure=not delta)
    made, charges = charged({"parts": [["a", "b"], ["c", "d", "e"], ["f"]]}, random_codes(SIZES, 400), task, **settings)
    whole = made.cost.epsilon if made.cost.pure else made.cost.rho
    first, *steps = made.steps
    left = charges[first.parts[0] :]
    assert [s.inside for s in steps][:2] == [("a", "b"), ("c", "d", "e")]
    for step in steps:
        own = [c for c in left if set(c.name.removeprefix("marginal ").split(" x ")) <= set(step.inside)]
        left = [c for c in left if c not in own]
        share = sum(c.epsilon if made.cost.pure else c.rho for c in own) / whole
        assert step.parts[0] <= len(own) <= step.parts[1]
        assert step.share[0] - 1e-9 <= share <= step.share[1] + 1e-9
        assert all(step.sigma[0] * (1 - 1e-9) <= c.scale <= step.sigma[1] * (1 + 1e-9) for c in own)
        assert all(step.cells[0] <= c.cells <= step.cells[1] for c in own)
    assert not left


def test_a_plan_of_listed_sets_says_what_each_part_gets_and_which_gets_nothing():
    listed = [["a", "b"], {"attributes": ["a", "c"], "weight": 3}]
    design = {"parts": PARTS, "marginals": [{"epsilon": 0, "sets": listed}]}
    task = task_for("dpsyn-2018", SIZES, 100, epsilon=1.0)
    made = plan("dpsyn-2018", {"design": design}, task)
    shares = {s.inside: (s.parts, s.share) for s in made.steps}
    assert shares[("a", "b", "c")] == ((2, 2), (pytest.approx(0.4), pytest.approx(0.4)))
    assert shares[("d", "e", "f")] == ((0, 0), (0.0, 0.0))


def test_parts_of_too_many_attributes_get_pairs_alone_or_are_refused():
    sizes = {f"x{i:03d}": 2 for i in range(210)}
    halves = [list(sizes)[:60], list(sizes)[60:]]
    assert views.held(halves, views.ORDERS) > views.MOST_SETS >= views.held(halves, (2,))
    got = views.inside(halves, sizes, sizes, cells=100, most_raw=1000)
    assert {len(s) for sets in got for s in sets} == {2}
    with pytest.raises(SizeError, match="above the cap of 20000; make smaller parts"):
        configure("dpsyn-2018", {"design": {"parts": [list(sizes)]}}).calibrate(task_for("dpsyn-2018", sizes, 10))


def test_an_attribute_of_a_part_without_a_one_way_gets_one():
    codes, domain = followed(2000), Domain.of(SIZES)
    design = {"parts": [["a", "b", "c", "d", "e"], ["f"]], "one_ways": ["a"]}
    out, names, _ = noiseless(codes, domain, design=design)
    assert names.count("marginal f") == 1
    assert np.abs(np.bincount(out[5], minlength=5) - np.bincount(codes[5], minlength=5)).max() <= 2


def test_attributes_of_a_part_that_no_listed_set_connects_stay_independent():
    codes, domain = followed(3000), Domain.of(SIZES)
    design = {"parts": [list(SIZES)], "marginals": [{"epsilon": 0, "sets": [["a", "b", "c"], ["d", "e", "f"]]}]}
    out, _, _ = noiseless(codes, domain, design=design, **{"update.polish": 0})
    for pair in itertools.product(*PARTS):
        table = PlainCounter(out, domain).marginal(pair) / out.shape[1]
        alone = np.outer(table.sum(axis=1), table.sum(axis=0))
        assert np.abs(table - alone).sum() / 2 < 0.04  # 3,000 records drawn independently are about .02 off


def test_a_forecast_knows_that_nothing_is_measured_across_parts():
    attributes = [{"name": n, "kind": "categorical", "values": list(range(s))} for n, s in SIZES.items()]
    schema = Schema.of({"version": 1, "name": "t", "attributes": attributes})
    asked = Questions.of(
        [{"kind": "table", "name": "inside", "of": ["d", "e"]}, {"kind": "table", "name": "across", "of": ["a", "e"]}]
    )
    settings = {"design": {"parts": PARTS}}
    spec = RunSpec.of(epsilon=1, delta=1e-9, method="dpsyn-2018", settings=settings, questions=asked)
    found = forecast(spec, schema, n_records=5000)
    inside, across = (f.before for f in found.each)
    assert 0 < inside < 0.1 and across is None


def test_random_views_of_a_design_without_parts_are_as_before():
    _, gate, _ = run("dpsyn-2018", task_for("dpsyn-2018", SIZES, 500), followed(500), settings={"views": 3})
    assert len([c for c in gate.account.charges if " x " in c.name]) == 1  # all six attributes fit into one view
