"""The head: it sees the other columns only, is paid for by itself, and hands on what they say about the target."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.deep.decoder import layout_of, probabilities
from dpsyn_core.systems.deep.discriminant import LONGEST, Classes, Others, linear_start
from dpsyn_core.systems.deep.mixture import components
from dpsyn_core.systems.registry import configure
from tests.systems.deep.test_parts import DOMAIN, numbers, space
from tests.systems.harness import random_codes, run, task_for

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


@pytest.mark.parametrize(("columns", "records"), [(6, 3000), (6, 20), (60, 50)])
def test_a_head_is_a_sum_and_a_training_where_the_decoder_has_one_and_classes_are_large(columns, records):
    sizes = {f"x{i}": 2 for i in range(columns)}
    names = []
    for target in ("", "x3"):
        system = configure("p3gm", {"target": target, "sampling": 0.1}).calibrate(task_for("p3gm", sizes, records))
        gate = Gate(account=Account(system.cost, delta=system.failure), noise=SystemNoise(), unit=system.task.unit)
        domain = Domain(tuple(CodedAttribute(name=n, size=2) for n in sizes))
        system.measure(MemoryCounter(random_codes(sizes, records), domain), gate=gate)
        charges = {kind: [c for c in gate.account.charges if c.kind == kind] for kind in ("sum", "training")}
        assert sum(c.delta for c in charges["training"]) <= system.failure * (1 + 1e-12)
        assert system.cost.rho * 0.998 <= gate.account.spent <= system.cost.rho * (1 + 1e-9)
        for kind, taken in charges.items():
            (planned,) = [s for s in system.steps(records) if s.kind == kind] or [None]
            least, most = planned.parts if planned else (0, 0)
            assert least <= len(taken) <= most
            share = sum(c.rho for c in taken) / system.cost.rho
            assert planned is None or planned.share[0] * 0.999 <= share <= planned.share[1] * 1.001
        names.append([c.name for c in (*charges["sum"][6:], *charges["training"])])
    decoder, begun = ["gradients"] if columns == 6 else [], "other columns by the target"
    trained = ["gradients of the head"] if decoder and records > 20 else []  # of 20 records the sum gets it all
    assert names == [decoder, [begun, *decoder, *trained]]


def related(n=6000):
    """Three numbers that depend on each other, a label that two of them say, and a number that all of them say."""
    rng = np.random.default_rng(7)
    z = rng.normal(size=(3, n))
    z[1] += 0.8 * z[0]
    label = z[0] - z[1] + 0.7 * rng.normal(size=n) > 0.8
    said = z[0] + 0.5 * z[2] + rng.normal(size=n)
    numbers = [np.clip(np.rint(15 + 5 * row), 0, 31) for row in (*z, said)]
    return np.stack([*numbers, label]).astype(np.uint8)


RELATED = Domain(
    (
        *(CodedAttribute(name=f"x{i}", size=32, ordered=True, number=True) for i in range(4)),
        CodedAttribute(name="label", size=2),
    )
)


def begun(codes, at, noise=1e-6, seed=0):
    """Inputs of the head, and the weights at which it begins, from sums without noise or with some."""
    known = space(codes, RELATED, values=32)
    others = Others.of(known, at)
    inputs, classes = others(known.features(codes)), Classes.of(known.blocks[at], others)
    summed = classes.table[known.coarse(codes)[:, at]].T @ (inputs / classes.length)
    summed = summed + noise * np.random.default_rng(seed).normal(size=summed.shape)
    short = known.clipped(codes)
    found = components(short.T @ short, codes.shape[1], 1e-6, known.width)
    return known, inputs, linear_start(known, at, classes, found, summed, noise)


def test_the_head_of_a_category_begins_at_the_rule_of_linear_discriminant_analysis():
    codes = related()
    _, inputs, weights = begun(codes, 4)
    logits = inputs @ weights[:-1] + weights[-1]
    known = LinearDiscriminantAnalysis().fit(inputs, codes[4]).decision_function(inputs)
    mine = logits[:, 1] - logits[:, 0]
    assert np.corrcoef(mine, known)[0, 1] > 0.98
    assert 0.4 < np.std(mine) / np.std(known) < 1.2, "components leave each input a part of its variance"


def test_the_head_of_a_number_begins_at_the_line_of_least_squares():
    codes = related()
    known, inputs, weights = begun(codes, 3)
    block = known.blocks[3]
    p = probabilities(layout_of(known, [3]).groups[0], inputs @ weights[:-1] + weights[-1])[:, 0]
    score = block.scores[block.recode[codes[3]]]
    line = inputs @ np.linalg.lstsq(inputs, score, rcond=None)[0]
    assert np.corrcoef(p @ block.scores, line)[0, 1] > 0.98
    assert 0.7 < np.std(p @ block.scores) / np.std(line) < 1.3


def test_noise_that_covers_every_difference_leaves_the_head_where_it_says_nothing():
    codes = related(300)
    for seed in range(5):
        _, inputs, weights = begun(codes, 4, noise=3000.0, seed=seed)
        logits = inputs @ weights[:-1] + weights[-1]
        assert np.std(logits[:, 1] - logits[:, 0]) < 0.3


def test_a_rare_value_that_is_to_be_predicted_is_told_from_all_others():
    """60 of 20,000 records at epsilon 1: a value of a twelfth of the budget's one-ways would be lost in noise."""
    rng = np.random.default_rng(12)
    n, columns = 20_000, 12
    label = np.arange(n) < 60
    x = rng.normal(size=(n, columns)) + np.where(np.arange(columns) < 6, 1.5, 0.0) * label[:, None]
    codes = np.clip(np.rint(8 + 2 * x), 0, 15).astype(np.uint8).T
    numbers = [CodedAttribute(name=f"x{i}", size=16, ordered=True, number=True) for i in range(columns)]
    domain = Domain((*numbers, CodedAttribute(name="label", size=2)))
    task = replace(task_for("p3gm", COLUMNS, n), domain=domain)
    settings = {"steps": 2, "hidden": 0, "target": "label"}
    drawn = run("p3gm", task, np.concatenate([codes, label[None, :].astype(np.uint8)]), settings=settings)[0]
    assert 20 < (drawn[-1] == 1).sum() < 150
    means = [drawn[:columns, drawn[-1] == v].mean(axis=1) for v in (0, 1)]
    towards = (means[1] - means[0]) @ codes
    assert np.searchsorted(np.sort(towards[~label]), towards[label]).mean() / (n - 60) > 0.9


def test_a_label_that_hundreds_of_columns_say_a_little_about_is_handed_on_although_no_component_is():
    rng = np.random.default_rng(9)
    n, columns = 3000, 150
    label = rng.random(n) < 0.3
    x = rng.normal(size=(n, columns)) + np.where(np.arange(columns) < 30, 0.5, 0.0) * label[:, None]
    codes = np.clip(np.rint(4 + 1.5 * x), 0, 7).astype(np.uint8).T
    numbers = [CodedAttribute(name=f"x{i}", size=8, ordered=True, number=True) for i in range(columns)]
    domain = Domain((*numbers, CodedAttribute(name="label", size=2)))
    task = replace(task_for("p3gm", COLUMNS, n, epsilon=3.0), domain=domain)
    drawn = run("p3gm", task, np.concatenate([codes, label[None, :].astype(np.uint8)]), settings={"target": "label"})[0]
    means = [drawn[:columns, drawn[-1] == v].mean(axis=1) for v in (0, 1)]
    towards = (means[1] - means[0]) @ codes
    below, above = np.sort(towards[~label]), towards[label]
    assert np.searchsorted(below, above).mean() / below.size > 0.75, "the area under the curve, on real records"
