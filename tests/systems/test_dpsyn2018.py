"""DPSyn 2018: its noise, its random views, and the groups, bins and sets that a public design asks for."""

import json
import math

import numpy as np
import pytest

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.others.dpsyn import cheaper_noise
from dpsyn_core.systems.others.dpsyn2018.design import Bins
from dpsyn_core.systems.others.dpsyn2018.work_tables import bins_of
from dpsyn_core.systems.registry import configure
from tests.systems.harness import PlainCounter, SeededNoise, random_codes, run, task_for
from tests.systems.test_dpsyn import pairs_distance

SIZES = {"a": 3, "b": 2, "c": 4, "d": 30, "e": 5}


def go(codes, domain, *, epsilon=5.0, delta=1e-6, noise=None, n_records=None, n_public=None, **settings):
    task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=delta), n_public=n_public)
    out, gate, system = run("dpsyn-2018", task, codes, settings=settings, noise=noise, n_records=n_records)
    return out, [c.name for c in gate.account.charges], system


def noiseless(codes, domain, **settings):
    return go(codes, domain, noise=SeededNoise(scale=0.0), rare_sigmas=0, rare_share=0, **settings)


@pytest.mark.parametrize(("epsilon", "published"), [(0.3, 346.1261), (1, 104.5058), (8, 13.8464)])
def test_oracle_o7_exact_accounting_needs_less_noise_than_the_closed_form(epsilon, published):
    """k = 200 Gaussian marginals at the budgets of the last round, with delta one over the square of its records."""
    delta = 2.2820544e-12
    log = math.log(1 / delta)
    assert math.sqrt(200) / (math.sqrt(2) * (math.sqrt(log + epsilon) - math.sqrt(log))) == pytest.approx(
        published, abs=1e-3
    )
    unit = Unit()
    cost = cheaper_noise(Budget(epsilon=epsilon, delta=delta), unit, 200)
    assert 0.8 * published < cost.sigma(unit.l2(200)) < published


def test_every_release_has_the_same_noise():
    codes = random_codes(SIZES, 2000)
    _, gate, _ = run("dpsyn-2018", task_for("dpsyn-2018", SIZES, 2000), codes, settings={"views": 3, "view_size": 2})
    scales = [c.scale for c in gate.account.charges]
    assert len(scales) == 5 + 3
    assert max(scales) == pytest.approx(min(scales))


def test_views_are_drawn_without_the_data_and_stay_under_the_cap():
    settings = {"views": 6, "view_size": 4, "view_cells": 40, "rare_sigmas": 0, "rare_share": 0}
    seen = []
    for seed in (1, 2):
        _, names, _ = go(random_codes(SIZES, 3000, seed), task_for("dpsyn-2018", SIZES, 1).domain, **settings)
        seen.append(names)
    assert seen[0] == seen[1]
    drawn = [n.removeprefix("marginal ").split(" x ") for n in seen[0][5:]]
    assert len(drawn) == len({tuple(d) for d in drawn})
    assert all(math.prod(SIZES[a] for a in d) <= 40 for d in drawn)
    other = configure("dpsyn-2018", settings | {"view_seed": 9}).calibrate(task_for("dpsyn-2018", SIZES, 1))
    assert other.config.view_seed == 9


@pytest.mark.parametrize("settings", [{}, {"update.updater": "mcf", "update.sweeps": 20}, {"view_size": 3}])
def test_dependences_survive_and_independent_loses_them(settings):
    codes = random_codes(SIZES, 4000)
    task = task_for("dpsyn-2018", SIZES, 4000, epsilon=5.0)
    ours, _, _ = run("dpsyn-2018", task, codes, settings=settings)
    baseline, _, _ = run("independent", task, codes)
    sizes = list(SIZES.values())
    assert pairs_distance(codes, ours, sizes) < 0.6 * pairs_distance(codes, baseline, sizes)


def test_rare_values_share_a_cell_and_come_back():
    rng = np.random.default_rng(0)
    tail = np.where(rng.random(6000) < 0.6, 0, rng.integers(1, 150, 6000))
    codes = np.stack([tail, tail > 0]).astype(np.uint8)
    out, _, system = go(codes, Domain.of({"t": 150, "f": 2}), epsilon=2.0)
    assert abs((out[0] > 0).mean() - 0.4) < 0.05
    assert ((out[0] > 0) == (out[1] > 0)).mean() > 0.95
    assert len(np.unique(out[0])) > 80
    assert system.domain["t"].size == 150


def test_the_number_of_values_kept_can_be_capped():
    codes = np.repeat(np.arange(6, dtype=np.uint8), [500, 400, 300, 20, 10, 5])[None]
    domain = Domain.of({"t": 6})
    system = configure("dpsyn-2018", {"most_values": 2, "rare_sigmas": 0, "rare_share": 0}).calibrate(
        Task(domain=domain, unit=Unit(), budget=Budget(epsilon=50.0, delta=1e-6))
    )
    from dpsyn_core.measure.gate import Gate
    from dpsyn_core.privacy.account import Account

    gate = Gate(account=Account(system.cost), noise=SeededNoise(0), unit=Unit())
    measured = system.measure(PlainCounter(codes, domain), gate=gate)
    assert measured.compressed["t"].recode.map.tolist()[:3] == [0, 1, 2] and measured.compressed["t"].size == 3


def test_a_group_is_counted_over_its_product_and_split_again():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 3000)
    codes = np.stack([x, rng.integers(0, 2, 3000), (x + 1) % 3]).astype(np.uint8)
    design = {"groups": [{"name": "ac", "attributes": ["a", "c"]}]}
    out, names, _ = noiseless(codes, Domain.of({"a": 3, "b": 2, "c": 3}), design=design, views=1)
    assert "marginal a x c" in names
    assert (out[2] == (out[0] + 1) % 3).all()


def test_groups_of_the_schema_are_used_when_asked():
    task = task_for("dpsyn-2018", SIZES, 10)  # the harness puts a and b into the group g
    assert set(configure("dpsyn-2018", {}).calibrate(task).working) == set(SIZES)
    asked = configure("dpsyn-2018", {"schema_groups": True}).calibrate(task)
    assert set(asked.working) == {"g", "c", "d", "e"}
    assert asked.working["g"].members == ("a", "b")
    design = {"hierarchies": [{"general": "b", "detailed": "a", "codes": [0, 1, 1]}]}
    kept = configure("dpsyn-2018", {"schema_groups": True, "design": design}).calibrate(task)
    assert set(kept.working) == {"a", "c", "d", "e"}


def test_a_general_code_follows_from_a_detailed_one_and_is_never_measured():
    rng = np.random.default_rng(0)
    detailed = rng.integers(0, 6, 1000)
    codes = np.stack([detailed // 2, detailed, rng.integers(0, 2, 1000)]).astype(np.uint8)
    design = {"hierarchies": [{"general": "g", "detailed": "d", "codes": [0, 0, 1, 1, 2, 2]}]}
    out, names, _ = go(codes, Domain.of({"g": 3, "d": 6, "x": 2}), design=design)
    assert all("g" not in n.removeprefix("marginal ").split(" x ") for n in names)
    assert (out[0] == out[1] // 2).all()


def test_binned_attributes_are_coarse_in_joints_and_follow_their_fine_one_way():
    rng = np.random.default_rng(0)
    age = np.minimum(rng.integers(0, 100, 8000), rng.integers(0, 100, 8000))
    codes = np.stack([age, age > 40]).astype(np.uint8)
    design = {"bins": [{"attribute": "age", "width": 10}]}
    out, names, system = noiseless(codes, Domain.of({"age": 100, "old": 2}), design=design, n_records=8000)
    assert system.working["age"].size == 10
    assert names[0] == "marginal age"
    truth, got = (np.bincount(c[0], minlength=100) for c in (codes, out))
    assert np.abs(truth - got).sum() < 0.05 * 8000
    assert ((out[0] >= 50) == (out[1] == 1))[out[0] >= 50].mean() > 0.97


def test_missing_cells_keep_a_bin_of_their_own():
    attribute = CodedAttribute(name="x", size=12, ordered=True, special=2)
    assert bins_of(attribute, Bins(attribute="x", width=4)).map.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4]


def test_a_missingness_pattern_is_counted_once_and_values_follow_their_one_ways():
    rng = np.random.default_rng(0)
    n = 5000
    there = rng.random(n) < 0.6
    first = np.where(there, rng.integers(0, 9, n) // 2, 9)
    second = np.where(there, 1, 4)
    domain = Domain(
        (CodedAttribute(name="from", size=10, ordered=True, special=1),
         CodedAttribute(name="to", size=5, ordered=True, special=1), CodedAttribute(name="x", size=2))
    )  # fmt: skip
    codes = np.stack([first, second, there]).astype(np.uint8)
    design = {"patterns": [{"name": "dates", "attributes": ["from", "to"]}]}
    out, names, system = noiseless(codes, domain, design=design)
    assert system.working["dates"].sizes == (2, 2)
    assert {"marginal from", "marginal to", "marginal from x to"} <= set(names)
    assert ((out[0] == 9) == (out[1] == 4)).all()
    assert ((out[0] == 9) == (out[2] == 0)).mean() > 0.97
    assert set(np.unique(out[0])) == {0, 1, 2, 3, 4, 9}


def test_a_functional_attribute_is_the_most_frequent_value_of_a_noisy_row():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 4000)
    y = np.where(rng.random(4000) < 0.9, (x * 2) % 5, rng.integers(0, 5, 4000))
    codes = np.stack([y, x]).astype(np.uint8)
    design = {"functional": [{"target": "y", "source": "x"}]}
    out, names, _ = go(codes, Domain.of({"y": 5, "x": 4}), design=design, epsilon=3.0)
    assert "marginal x x y" in names
    assert (out[0] == (out[1] * 2) % 5).all()


def test_the_list_of_marginals_follows_epsilon():
    domain = task_for("dpsyn-2018", SIZES, 1).domain
    design = {
        "marginals": [
            {"epsilon": 0.3, "sets": [["a", "b"]]},
            {"epsilon": 2, "sets": [["a", "b"], ["c", "b", "e"]]},
        ]
    }
    codes = random_codes(SIZES, 1000)
    for epsilon, expected in ((0.1, 1), (0.3, 1), (1.9, 1), (2.0, 2), (8.0, 2)):
        _, names, _ = go(codes, domain, epsilon=epsilon, design=design, n_records=10)
        assert len(names) == 5 + expected
    assert names[-1] == "marginal b x c x e"


def test_parts_are_joined_on_what_they_share():
    rng = np.random.default_rng(0)
    age = rng.integers(0, 5, 4000)
    codes = np.stack([age, np.minimum(age, 3), 4 - age, rng.integers(0, 2, 4000)]).astype(np.uint8)
    domain = Domain.of({"age": 5, "x": 4, "y": 5, "z": 2})
    design = {
        "parts": [["age", "x"], ["age", "y"], ["z"]],
        "marginals": [{"epsilon": 0, "sets": [["age", "x"], ["age", "y"]]}],
    }
    out, _, _ = noiseless(codes, domain, design=design)
    assert (out[1] == np.minimum(out[0], 3)).mean() > 0.98
    assert (out[2] == 4 - out[0]).mean() > 0.98
    assert np.bincount(out[3]).tolist() == pytest.approx([2000, 2000], abs=100)


def test_a_design_can_be_given_as_text():
    text = json.dumps({"bins": [{"attribute": "d", "width": 5}]})
    assert configure("dpsyn-2018", {"design": text}).design.bins[0].width == 5
    assert configure("dpsyn-2018", {"design": ""}).design.bins == ()
    with pytest.raises(SettingError, match="design"):
        configure("dpsyn-2018", {"design": "{"})


@pytest.mark.parametrize(
    ("design", "message"),
    [
        ({"groups": [{"name": "g", "attributes": ["a", "nothing"]}]}, "unknown attribute 'nothing'"),
        ({"groups": [{"name": "a", "attributes": ["b", "c"]}]}, "group name 'a' is taken"),
        ({"groups": [{"name": "g", "attributes": ["a", "b"]}, {"name": "h", "attributes": ["b", "c"]}]}, "used twice"),
        ({"hierarchies": [{"general": "b", "detailed": "a", "codes": [0, 1]}]}, "needs 3 codes"),
        ({"functional": [{"target": "a", "source": "b"}, {"target": "b", "source": "c"}]}, "itself derived"),
        ({"marginals": [{"epsilon": 1, "sets": [["a", "x"]]}]}, "'x' cannot be in a marginal"),
        ({"marginals": [{"epsilon": 1, "sets": [["a", "a"]]}]}, "names an attribute twice"),
        ({"parts": [["a", "b"]]}, "leave out c, d, e"),
        ({"bins": [{"attribute": "a", "width": 0}]}, "greater than or equal to 1"),
        ({"surprise": []}, "design"),
    ],
)
def test_a_design_that_does_not_fit_is_refused_before_anything_is_charged(design, message):
    with pytest.raises(SettingError, match=message):
        configure("dpsyn-2018", {"design": design}).calibrate(task_for("dpsyn-2018", SIZES, 10))


def test_groups_and_listed_marginals_above_the_cap_are_refused():
    sizes = {f"a{i}": 200 for i in range(5)}
    for design in (
        {"groups": [{"name": "g", "attributes": list(sizes)}]},
        {"marginals": [{"epsilon": 1, "sets": [list(sizes)]}]},
    ):
        with pytest.raises(SizeError, match="above the cap"):
            configure("dpsyn-2018", {"design": design}).calibrate(task_for("dpsyn-2018", sizes, 10))
