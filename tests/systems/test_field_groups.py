"""Field groups: the thresholds of the 2018 entry (oracle 16) and the sparse law against the dense one."""

import math

import numpy as np
import pytest
from scipy import stats

from dpsyn_core.errors import MethodError, SettingError, SizeError
from dpsyn_core.measure.counting.base import occupied
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.sparse import empty_survivors, noisy_above, survival
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.others.field_groups import threshold
from dpsyn_core.systems.registry import configure
from tests.systems.harness import PlainCounter, SeededNoise


def task_of(domain, *, epsilon=1.0, **unit):
    return Task(domain=domain, unit=Unit(**unit), budget=Budget(epsilon=epsilon, delta=0.0))


def test_scales_and_thresholds_are_those_of_the_2018_entry():
    for epsilon, b in ((8.0, 4.875), (1.0, 39.0), (0.3, 130.0)):
        assert Budget(epsilon=epsilon, delta=0.0).pure().split([1.0] * 39)[0].scale(1) == pytest.approx(b, rel=1e-12)
    for bins, t in ((100, 148.2), (10**4, 296.4), (10**6, 444.6), (1, 0.0)):
        assert threshold(39.0, bins, 1.9) == pytest.approx(t, abs=1e-9)


@pytest.mark.parametrize(("bins", "survivors"), [(100, 1.119), (10**4, 2.502), (10**6, 5.598)])
def test_expected_survivors_of_an_empty_table_match_the_oracle(bins, survivors):
    continuous = bins * 0.5 * math.exp(-threshold(39.0, bins, 1.9) / 39.0)
    assert continuous == pytest.approx(survivors, abs=5e-4)
    # integers: the law at ceil(t) differs by less than one step of the noise, 1/39, either way
    discrete = bins * survival(39.0, math.ceil(threshold(39.0, bins, 1.9)))
    assert abs(discrete / continuous - 1) < 1.5 / 39


@pytest.mark.slow
def test_sparse_and_dense_noise_have_the_same_law():
    cells, scale, t, runs = 400, 3.0, 7, 4000
    occupied, counts = np.array([3, 90, 399]), np.array([2, 9, 30])
    exact = np.zeros(cells, dtype=np.int64)
    exact[occupied] = counts
    noise = SeededNoise(7)
    sparse_n, dense_n, sparse_v, dense_v, sparse_i = [], [], [], [], []
    for _ in range(runs):
        index, values = noisy_above(occupied, counts, noise, scale=scale, threshold=t, cells=cells)
        assert (np.diff(index) > 0).all()
        assert values.min(initial=t) >= t
        empty = ~np.isin(index, occupied)
        sparse_n.append(empty.sum())
        sparse_v.append(values[empty])
        sparse_i.append(index[empty])
        noisy = exact + noise.geometric(scale, cells)
        noisy[occupied] = 0
        dense_n.append((noisy >= t).sum())
        dense_v.append(noisy[noisy >= t])
    q = survival(scale, t)
    expected = (cells - 3) * q
    # means of 4000 binomials: six standard errors
    for counts_of_runs in (sparse_n, dense_n):
        assert abs(np.mean(counts_of_runs) - expected) < 6 * math.sqrt(expected / runs)
    assert abs(np.var(sparse_n) - expected * (1 - q)) < 6 * expected * math.sqrt(3 / runs)
    assert stats.ks_2samp(np.concatenate(sparse_v), np.concatenate(dense_v)).pvalue > 1e-6
    assert stats.kstest(np.concatenate(sparse_i) / cells, "uniform").pvalue > 1e-6


def test_rare_survivors_are_thinned_from_a_denser_process_without_bias():
    # a threshold so high that the gap of the direct process would not fit an integer
    index, _ = empty_survivors(SeededNoise(1), scale=1.0, threshold=80, cells=10**6)
    assert index.size == 0
    assert survival(1.0, 80) < 2**-100


def test_a_group_of_a_hundred_million_bins_is_measured_in_time_of_its_survivors():
    domain = Domain(tuple(CodedAttribute(name=f"x{i}", size=100, group="g") for i in range(4)))
    codes = np.repeat(np.array([[5], [50], [7], [99]], dtype=np.uint8), 2000, axis=1)
    system = configure("field-groups", {}).calibrate(task_of(domain))
    gate = Gate(account=Account(system.cost), noise=SeededNoise(2), unit=Unit())

    (table,) = system.measure(MemoryCounter(codes, domain), gate=gate)
    flat = int(np.ravel_multi_index((5, 50, 7, 99), (100,) * 4))
    assert flat in table.indices
    assert gate.account.charges[0].cells == 10**8
    out = system.synthesize([table], None, rng=np.random.default_rng(0))
    assert abs(out.shape[1] - 2000) < 1000  # plus about twelve survivors of threshold 16 each
    assert (out[:, 0] == [5, 50, 7, 99]).all() or (out == [[5], [50], [7], [99]]).all(axis=0).mean() > 0.8


def test_noise_doubles_for_replace_and_grows_with_the_records_of_an_individual():
    domain = Domain(tuple(CodedAttribute(name=n, size=2, group="g") for n in "ab"))
    scales = {}
    for neighbours, theta in (("add-remove", 1), ("replace", 1), ("add-remove", 3)):
        task = task_of(domain, neighbours=neighbours, max_records=theta)
        system = configure("field-groups", {}).calibrate(task)
        gate = Gate(account=Account(system.cost), noise=SeededNoise(0), unit=task.unit)
        system.measure(PlainCounter(np.zeros((2, 5), dtype=int), domain), gate=gate)
        scales[neighbours, theta] = gate.account.charges[0].scale
    assert scales["add-remove", 1] == pytest.approx(1.0)
    assert scales["replace", 1] == pytest.approx(2.0)
    assert scales["add-remove", 3] == pytest.approx(3.0)


def test_groups_missing_overlapping_unknown_or_too_large_are_refused_with_a_remedy():
    plain = task_of(Domain.of({"a": 2, "b": 2}))
    with pytest.raises(MethodError, match="independent"):
        configure("field-groups", {}).calibrate(plain)
    with pytest.raises(SettingError, match="two groups"):
        configure("field-groups", {"groups": "a+b, a"}).calibrate(plain)
    with pytest.raises(SettingError, match="no attribute"):
        configure("field-groups", {"groups": [["a", "z"]]}).calibrate(plain)
    wide = task_of(Domain.of({f"x{i}": 1000 for i in range(5)}))
    with pytest.raises(SizeError, match="'rls'"):
        configure("field-groups", {"groups": "x0+x1+x2+x3+x4"}).calibrate(wide)


def test_dependence_inside_a_group_is_kept_and_between_groups_is_lost():
    domain = Domain.of({"a": 2, "b": 2, "c": 2})
    column = np.arange(4000) % 2
    system = configure("field-groups", {"groups": "a+b"}).calibrate(task_of(domain, epsilon=4.0))
    gate = Gate(account=Account(system.cost), noise=SeededNoise(4), unit=Unit())
    measured = system.measure(PlainCounter(np.stack([column] * 3), domain), gate=gate)
    out = system.synthesize(measured, 4000, rng=np.random.default_rng(1))
    assert (out[0] == out[1]).mean() > 0.99
    assert abs((out[0] == out[2]).mean() - 0.5) < 0.05


def test_occupied_cells_are_those_of_the_whole_table_whichever_counter_lists_them():
    domain = Domain.of({"a": 7, "b": 5, "c": 3})
    codes = np.random.default_rng(0).integers(0, [[7], [5], [3]], (3, 60)).astype(np.uint8)
    for names in (("a", "c"), ("a", "b", "c"), ("b",)):
        listed = [occupied(c, names) for c in (MemoryCounter(codes, domain), PlainCounter(codes, domain))]
        flat = PlainCounter(codes, domain).marginal(names).ravel()
        for index, counts in listed:
            assert index.tolist() == np.flatnonzero(flat).tolist()
            assert counts.tolist() == flat[flat > 0].tolist()


@pytest.mark.parametrize("cut", [0.0, 1.9, 5.0])
def test_bins_below_the_threshold_are_dropped_and_the_others_keep_their_noisy_count(cut):
    domain = Domain.of({"a": 10, "b": 10})
    codes = np.repeat(np.array([[1, 2, 3, 4], [5, 6, 7, 8]], dtype=np.uint8), [2, 4, 12, 60], axis=1)
    system = configure("field-groups", {"groups": "a+b", "cut": cut}).calibrate(task_of(domain))
    gate = Gate(account=Account(system.cost), noise=SeededNoise(0, scale=0.0), unit=Unit())
    (table,) = system.measure(PlainCounter(codes, domain), gate=gate)
    # one group at epsilon 1: t = cut x 2 for a hundred bins, at least one record
    assert table.values.tolist() == [c for c in (2, 4, 12, 60) if c >= max(1, 2 * cut)]
    assert table.total == 78
