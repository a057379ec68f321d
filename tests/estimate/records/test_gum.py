"""GUM and MCF against oracles O9 and O10, and the invariants of an update."""

import math

import numpy as np
import pytest

from dpsyn_core.estimate.records import gum as module
from dpsyn_core.estimate.records.gum import COOLING, WINDOW, UpdateSettings, flow, gum, mcf
from dpsyn_core.estimate.records.gum_kernel import removals, update
from dpsyn_core.estimate.records.random import seed_state
from dpsyn_core.estimate.records.targets import TargetTable


def table(rows, counts, weight=1.0):
    counts = np.asarray(counts, dtype=float)
    share = (counts / counts.sum()).ravel()
    return TargetTable(rows=np.array(rows), sizes=np.array(counts.shape), share=share, weight=weight)


def step(codes, rows, target, *, alpha=1.0, copies=0.5, seed=0):
    target = np.asarray(target, dtype=np.int64)
    cell = np.empty(codes.shape[1], dtype=np.int32)
    sizes = np.array(target.shape)
    state = seed_state(np.random.default_rng(seed))
    return update(codes, np.array(rows), sizes, target.ravel(), alpha, copies, cell, state)


def counted(codes, rows, shape):
    out = np.zeros(shape, dtype=np.int64)
    np.add.at(out, tuple(codes[r] for r in rows), 1)
    return out


def random_table(seed, sizes=(3, 4, 5, 2), n=500):
    rng = np.random.default_rng(seed)
    return np.stack([np.minimum(rng.integers(0, s, n), rng.integers(0, s, n)) for s in sizes]).astype(np.uint8)


# income, gender, age of v1..v5: all have a high income (1), v5 is the female (1); ages teenager 0, adult 1, adult,
# teenager, elderly 2
FIGURE_4 = np.array([[1, 1, 1, 1, 1], [0, 0, 0, 0, 1], [0, 1, 1, 0, 2]], dtype=np.uint8)


def test_oracle_o10_moves_two_records_one_replaced_and_one_copied():
    replaced = set()
    for seed in range(40):
        codes = FIGURE_4.copy()
        step(codes, [0, 1], [[0, 0], [1, 4]], alpha=2.0, copies=0.5, seed=seed)
        np.testing.assert_array_equal(counted(codes, [0, 1], (2, 2)) / 5, [[0, 0], [0.4, 0.6]])
        ages = sorted(codes[2, codes[1] == 1].tolist())
        assert ages[1:] == [2, 2]  # v5 and its copy are elderly; the replaced one keeps its own age
        replaced.add(ages[0])
    assert replaced == {0, 1}  # the published draw is a teenager; an adult is as likely


def test_worked_example_of_both_ways_to_remove():
    """Counts 10, 4, 2 in excess by 4, 3, 1 give 4 records: half of each excess, or beta = 4 / 16 of each count."""
    counts, target = np.array([10, 4, 2, 0]), np.array([6, 1, 1, 8])
    assert removals(counts, target, 4, False) == pytest.approx([2, 1.5, 0.5, 0])
    assert removals(counts, target, 4, True) == pytest.approx([2.5, 1, 0.5, 0])
    # with 7 to give, the first cell is at its excess of 4 at beta .4; the others share beta = .5
    assert removals(counts, target, 7, True) == pytest.approx([4, 2, 1, 0])
    for by_share in (False, True):
        assert removals(counts, target, 9, by_share) == pytest.approx([4, 3, 1, 0])
        assert removals(target, target, 3, by_share) == pytest.approx([0, 0, 0, 0])
    # figure 4: alpha 2 asks for 2, which is beta = .5 of the 4 men
    assert removals(np.array([0, 0, 4, 1]), np.array([0, 0, 1, 4]), 2, True) == pytest.approx([0, 0, 2, 0])


@pytest.mark.parametrize("seed", range(6))
def test_removal_by_share_gives_what_is_wanted_and_never_more_than_the_excess(seed):
    rng = np.random.default_rng(seed)
    counts, target = rng.integers(0, 50, 30), rng.integers(0, 50, 30)
    excess = np.clip(counts - target, 0, None)
    for wanted in (0, 1, int(excess.sum() // 2), int(excess.sum())):
        gives = removals(counts, target, wanted, True)
        assert gives.sum() == pytest.approx(wanted) and (gives <= excess + 1e-9).all()
        beta = max((gives[excess > gives + 1e-9] / counts[excess > gives + 1e-9]).tolist(), default=None)
        if beta is not None:
            open_ = excess > gives + 1e-9
            assert gives[open_] == pytest.approx(beta * counts[open_])


@pytest.mark.parametrize("curve", ["step", "exponential", "linear", "square-root"])
def test_rates_fall_by_the_published_curves(curve):
    settings = UpdateSettings(alpha=2.0, decay=0.84, decay_every=20, decay_curve=curve)
    k = -math.log(0.84) / 20
    expected = {
        "step": 0.84**2, "exponential": math.exp(-k * 50), "linear": 1 / (1 + 50 * k),
        "square-root": 1 / math.sqrt(1 + 50 * k),
    }[curve]  # fmt: skip
    assert settings.rate(0) == 2.0
    assert settings.rate(50) == pytest.approx(2 * expected)
    assert UpdateSettings(alpha=1.0, decay_curve=curve, decay=1.0).rate(70) == 1.0
    if curve == "exponential":
        assert settings.rate(40) == pytest.approx(2 * 0.84**2)


@pytest.mark.parametrize("removal", ["proportional", "share"])
def test_gum_reaches_consistent_targets_by_either_removal(removal):
    codes, goal = random_table(0), random_table(1)
    tables = [table([i, j], counted(goal, [i, j], ((3, 4, 5, 2)[i], (3, 4, 5, 2)[j]))) for i in range(4) for j in
              range(i + 1, 4)]  # fmt: skip
    settings = UpdateSettings(alpha=1.0, sweeps=60, removal=removal, decay_curve="square-root")
    history = gum(codes, tables, settings, rng=np.random.default_rng(0))
    assert history[-1] < 0.25 * history[0]


def test_oracle_o9_flow():
    moved = flow(np.array([0.3, 0.3, 0.4]), np.array([0.5, 0.2, 0.3]))
    assert moved[1, 0] == pytest.approx(0.1)
    assert moved[2, 0] == pytest.approx(0.1)
    assert moved.sum() == pytest.approx(0.2)


def test_mcf_moves_what_oracle_o9_says():
    codes = np.repeat(np.array([0, 1, 2], dtype=np.uint8), [30, 30, 40])[None]
    before = codes[0].copy()
    mcf(codes, [table([0], [50, 20, 30])], sweeps=1, rng=np.random.default_rng(0))
    assert np.bincount(codes[0]).tolist() == [50, 20, 30]
    assert ((before == 1) & (codes[0] == 0)).sum() == 10
    assert ((before == 2) & (codes[0] == 0)).sum() == 10


def test_mcf_makes_the_last_marginal_exact_and_leaves_other_attributes_alone():
    codes = random_table(0)
    before = codes.copy()
    goal = counted(random_table(1), [1, 2], (4, 5))
    mcf(codes, [table([1, 2], goal)], sweeps=1, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(counted(codes, [1, 2], (4, 5)), goal)
    np.testing.assert_array_equal(codes[[0, 3]], before[[0, 3]])


@pytest.mark.parametrize("copies", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("alpha", [0.05, 0.7, 1.0, 2.0, math.inf])
@pytest.mark.parametrize("seed", range(4))
def test_the_distance_of_the_updated_marginal_never_rises_and_the_row_count_is_kept(seed, alpha, copies):
    codes = random_table(seed)
    rows, shape = [1, 3, 2], (4, 2, 5)
    target = counted(random_table(seed + 100), rows, shape)
    before = np.abs(counted(codes, rows, shape) - target).sum()
    told = step(codes, rows, target, alpha=alpha, copies=copies, seed=seed)
    after = np.abs(counted(codes, rows, shape) - target).sum()
    assert told == before
    assert after <= before
    assert codes.shape == (4, 500)
    if alpha >= 1:
        assert after < before


def test_at_most_as_many_records_change_as_are_in_excess():
    codes = random_table(5)
    target = counted(random_table(6), [0, 1], (3, 4))
    excess = np.clip(counted(codes, [0, 1], (3, 4)) - target, 0, None).sum()
    before = codes.copy()
    step(codes, [0, 1], target, alpha=math.inf, copies=0.5)
    assert (codes != before).any(axis=0).sum() <= excess


def test_records_outside_over_full_cells_stay_untouched():
    codes = random_table(7)
    target = counted(random_table(8), [0, 1], (3, 4))
    over = counted(codes, [0, 1], (3, 4)) > target
    safe = ~over[codes[0], codes[1]]
    before = codes[:, safe].copy()
    step(codes, [0, 1], target, alpha=1.0, copies=0.5)
    np.testing.assert_array_equal(codes[:, safe], before)


def test_a_copy_is_a_copy_of_a_record_of_the_target_cell():
    codes = random_table(9)
    target = counted(random_table(10), [0, 1], (3, 4))
    before = {tuple(r) for r in codes.T.tolist()}
    step(codes, [0, 1], target, alpha=0.5, copies=1.0)
    assert {tuple(r) for r in codes.T.tolist()} <= before


def test_empty_cells_are_filled():
    codes = np.zeros((2, 100), dtype=np.uint8)
    tables = [table([0, 1], [[25, 25], [25, 25]])]
    gum(codes, tables, UpdateSettings(alpha=1.0, sweeps=20), rng=np.random.default_rng(0))
    assert counted(codes, [0, 1], (2, 2)).min() >= 24


def test_small_rates_still_move_small_cells():
    """Without stochastic rounding a cell with alpha * count below one half would stay as it is for ever."""
    codes = np.concatenate([np.zeros(95), np.ones(5)]).astype(np.uint8)[None]
    for seed in range(60):
        step(codes, [0], [50, 50], alpha=0.05, copies=0.0, seed=seed)
    assert (codes == 1).sum() > 20


@pytest.mark.parametrize("updater", ["gum", "mcf"])
def test_a_table_that_matches_is_a_fixed_point(updater):
    codes = random_table(11)
    before = codes.copy()
    tables = [table(p, counted(codes, p, s)) for p, s in (([0, 1], (3, 4)), ([1, 2], (4, 5)), ([3], (2,)))]
    if updater == "gum":
        history = gum(codes, tables, UpdateSettings(alpha=1.0), rng=np.random.default_rng(0))
    else:
        history = mcf(codes, tables, sweeps=5, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(codes, before)
    assert history == [0.0]


def test_gum_reaches_consistent_targets():
    codes = random_table(12)
    truth = random_table(13)
    pairs = [([a, b], ((3, 4, 5, 2)[a], (3, 4, 5, 2)[b])) for a in range(4) for b in range(a)]
    tables = [table(p, counted(truth, p, s)) for p, s in pairs]
    history = gum(codes, tables, UpdateSettings(alpha=1.0, sweeps=60), rng=np.random.default_rng(0))
    assert history[-1] < 0.25 * history[0]
    assert history[-1] < 0.02


def test_the_rate_falls_in_steps_and_s5_alternates():
    settings = UpdateSettings(alpha=2.0, decay=0.5, decay_every=3)
    assert [settings.rate(t) for t in range(7)] == [2, 2, 2, 1, 1, 1, 0.5]
    assert [settings.copies(t, []) for t in range(4)] == [0.5, 1.0, 0.5, 1.0]


def test_cooling_sweeps_on_at_a_rate_that_falls_by_a_part_each_sweep(monkeypatch):
    """Tables of pairs whose noise contradicts itself."""
    rng = np.random.default_rng(0)
    codes, sizes, rates = random_table(0, n=3000), (3, 4, 5, 2), []
    pairs = [(a, b) for a in range(4) for b in range(a)]
    true = [counted(codes, p, [sizes[a] for a in p]) for p in pairs]
    noisy = [table(p, np.maximum(t + rng.normal(0, 60, t.shape), 0)) for p, t in zip(pairs, true, strict=True)]

    def noted(codes, rows, sizes, target, rate, *rest):
        rates.append(rate)
        return update(codes, rows, sizes, target, rate, *rest)

    monkeypatch.setattr(module, "update", noted)
    settings = UpdateSettings(sweeps=25)
    usual = gum(random_table(1, n=3000), noisy, settings, rng=np.random.default_rng(2))
    rates.clear()
    cooled = gum(random_table(1, n=3000), noisy, settings, cooled=True, rng=np.random.default_rng(2))
    more = len(cooled) - len(usual)
    assert cooled[: len(usual)] == usual and WINDOW < more <= COOLING
    after = rates[len(usual) * len(pairs) :: len(pairs)]
    assert after == pytest.approx([settings.rate(len(usual)) * 0.84**t for t in range(more)])


def test_close_rewrites_until_a_sweep_gains_little_and_copies_from_then_on():
    settings = UpdateSettings(alpha=1.0, fill="close")
    history = [0.5, 0.3, 0.2, 0.19, 0.1]  # the distance falls by 5 % in the fourth sweep
    assert [settings.copies(t, history[:t]) for t in range(6)] == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]


def test_the_same_seed_gives_the_same_records():
    runs = []
    for _ in range(2):
        codes = random_table(14)
        tables = [table([0, 1], counted(random_table(15), [0, 1], (3, 4)))]
        gum(codes, tables, UpdateSettings(alpha=1.0, sweeps=3), rng=np.random.default_rng(4))
        runs.append(codes)
    np.testing.assert_array_equal(*runs)


def test_no_records_and_no_tables_are_served():
    assert (
        gum(np.zeros((2, 0), np.uint8), [table([0], [1, 1])], UpdateSettings(alpha=1.0), rng=np.random.default_rng(0))
        == []
    )
    assert gum(np.zeros((2, 3), np.uint8), [], UpdateSettings(alpha=1.0), rng=np.random.default_rng(0)) == []


def test_victims_are_uniform_within_a_cell():
    hits = np.zeros(40)
    for seed in range(600):
        codes = np.zeros((1, 40), dtype=np.uint8)
        step(codes, [0], [30, 10], alpha=math.inf, copies=0.0, seed=seed)
        hits += codes[0]
    # each record is a victim with probability 1/4: 600 draws have a standard deviation of 10.6; 4.5 of them
    assert np.abs(hits - 150).max() < 48
