"""The method rls end to end: spends what it states, repeats, keeps dependences, and serves every odd table."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate.marginals.types import Measurement, merged
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.orders import triples_may_pay
from dpsyn_core.systems.rls.system import Rls
from dpsyn_core.systems.rls.tuning import TUNING
from tests.seeded import SeededNoise


class ConstantNoise:
    def gaussian(self, sigma, size):
        return np.full(size, 7, dtype=np.int64)

    geometric = gaussian


def chain(n=4_000, seed=0):
    """Four attributes in a chain, each a noisy copy of the one before; one ordered with a special value."""
    rng = np.random.default_rng(seed)
    a = rng.choice(12, n, p=rng.dirichlet(np.ones(12)))
    columns = [a]
    for size in (12, 5, 3):
        keep = rng.random(n) < 0.9
        columns.append(np.where(keep, columns[-1] % size, rng.integers(0, size, n)))
    names = ("a", "b", "c", "d")
    domain = Domain(
        tuple(
            CodedAttribute(name=k, size=s, ordered=k == "a", special=1 if k == "a" else 0)
            for k, s in zip(names, (12, 12, 5, 3), strict=True)
        )
    )
    return np.stack(columns).astype(np.uint8), domain


def run(
    codes, domain, *, epsilon=1.0, delta=1e-9, unit=None, n_public=None, noise=None, settings=None, n=None, seed=0,
    tuning=TUNING,
):  # fmt: skip
    unit = unit or Unit()
    task = Task(domain=domain, unit=unit, budget=Budget(epsilon=epsilon, delta=delta), n_public=n_public)
    system = Rls(configure("rls", settings or {}), task, tuning=tuning)
    gate = Gate(account=Account(system.cost), noise=noise or SeededNoise(seed), unit=unit)
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    return system.synthesize(measured, n, rng=np.random.default_rng(seed)), measured, gate, system


def pair_tvd(x, y, i, j, domain):
    sizes = domain.sizes

    def count(t):
        return np.bincount(t[i].astype(int) * sizes[j] + t[j], minlength=sizes[i] * sizes[j]) / t.shape[1]

    return 0.5 * np.abs(count(x) - count(y)).sum()


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, 1e-9])
@pytest.mark.parametrize("theta", [1, 4])
@pytest.mark.parametrize("n_public", [None, 4_000])
def test_the_whole_budget_is_spent_and_no_more(neighbours, delta, theta, n_public):
    codes, domain = chain()
    unit = Unit(neighbours=neighbours, max_records=theta)
    _, _, gate, system = run(codes, domain, delta=delta, unit=unit, n_public=n_public)
    cap = system.cost.epsilon if system.cost.pure else system.cost.rho
    assert 0.999 * cap < gate.account.spent <= cap * (1 + 1e-9)
    assert {c.mechanism for c in gate.account.charges} == {"geometric" if delta == 0 else "gaussian"}


def test_strong_dependences_are_kept_where_independence_loses_them():
    codes, domain = chain(20_000)
    out, _, _, _ = run(codes, domain, epsilon=3.0, n=20_000)
    shuffled = np.stack([np.random.default_rng(i).permutation(c) for i, c in enumerate(codes)])
    for i, j in ((0, 1), (1, 2), (2, 3), (0, 2)):
        assert pair_tvd(codes, out, i, j, domain) < 0.2 * pair_tvd(codes, shuffled, i, j, domain)


@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_tiny_budgets_give_noise_and_no_failure(delta):
    codes, domain = chain(300)
    out, _, _, _ = run(codes, domain, epsilon=0.001, delta=delta, n=250)
    assert out.shape == (4, 250)


def test_the_number_of_records_is_the_released_estimate_or_what_is_asked_for():
    codes, domain = chain()
    out, measured, _, _ = run(codes, domain, epsilon=5.0)
    assert abs(out.shape[1] - 4_000) < 60
    assert measured[0].attributes == ()
    assert run(codes, domain, n_public=3_000)[0].shape[1] == 3_000
    assert run(codes, domain, n=17)[0].shape == (4, 17)
    assert run(codes, domain, n=0)[0].shape == (4, 0)


def test_codes_stay_in_their_domain_in_the_narrowest_type():
    codes, domain = chain()
    out = run(codes, domain)[0]
    assert out.dtype == np.uint8
    assert (out.max(axis=1) < np.array(domain.sizes)).all()


def test_the_same_generator_and_measurements_give_the_same_records():
    codes, domain = chain()
    _, measured, _, system = run(codes, domain)
    again = [system.synthesize(measured, 500, rng=np.random.default_rng(s)) for s in (3, 3, 4)]
    assert np.array_equal(again[0], again[1])
    assert not np.array_equal(again[0], again[2])


def test_arbitrary_tables_behind_a_constant_tape_give_identical_records():
    class Tape(Gate):
        def release_tables(self, wanted, count):
            return super().release_tables(wanted, lambda: [np.zeros(w.cells, dtype=np.int64) for w in wanted])

    out = []
    for codes, domain in (chain(), chain(700, seed=9)):
        task = Task(domain=domain, unit=Unit(), budget=Budget(epsilon=1.0, delta=1e-9))
        system = configure("rls", {}).calibrate(task)
        gate = Tape(account=Account(system.cost), noise=ConstantNoise(), unit=task.unit)
        measured = system.measure(MemoryCounter(codes, domain), gate=gate)
        out.append(system.synthesize(measured, None, rng=np.random.default_rng(0)).tobytes())
    assert out[0] == out[1]


@pytest.mark.parametrize("sizes", [{}, {"a": 1}, {"a": 3}, {"a": 1, "b": 1}, {"a": 2, "b": 300}])
@pytest.mark.parametrize("n", [0, 1, 50])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_odd_tables_pass(sizes, n, delta):
    domain = Domain.of(sizes)
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, s, n) for s in sizes.values()] or [np.zeros(n)]).astype(np.uint16)[: len(sizes)]
    out, _, gate, system = run(codes, domain, delta=delta)
    assert out.shape[0] == len(sizes)
    cap = system.cost.epsilon if system.cost.pure else system.cost.rho
    assert gate.account.spent <= cap * (1 + 1e-9)
    assert run(codes, domain, delta=delta, n=9)[0].shape == (len(sizes), 9)


def parity(n=20_000):
    """Six bits: the third is the exclusive or of the first two with some noise, pairs alone say nothing about it."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (6, n))
    bits[2] = bits[0] ^ bits[1] ^ (rng.random(n) < 0.1)
    return bits.astype(np.uint8), Domain.of(dict.fromkeys("abcdef", 2))


@pytest.mark.slow
def test_triples_are_measured_where_pairs_say_nothing_and_the_budget_still_holds():
    codes, domain = parity()
    out, measured, gate, system = run(codes, domain, epsilon=2.0, n=20_000)
    names = [m.attributes for m in measured]
    assert ("a", "b", "c") in names
    # what triples leave goes back to pairs, those that a strong triple tells left out
    assert all(names.count(n) == (1 if set(n) < set("abc") else 2) for n in names if len(n) == 2)

    def agree(t):
        return float(np.mean(t[0] ^ t[1] == t[2]))

    assert agree(out) > 0.85
    assert agree(run(codes, domain, epsilon=2.0, n=20_000, settings={"triples": False})[0]) < 0.6
    assert 0.999 * system.cost.rho < gate.account.spent <= system.cost.rho * (1 + 1e-9)


def test_large_tables_without_threefold_dependence_get_no_triples_and_those_with_it_do():
    """400,000 records, scored against a fit of 20,000: its sampling error is no dependence."""
    codes, domain = parity(n=400_000)
    _, measured, gate, _ = run(codes, domain, epsilon=0.3, n=20)
    assert {m.attributes for m in measured if len(m.attributes) == 3} == {("a", "b", "c")}
    columns = [
        codes[0],
        *(np.where(np.random.default_rng(j).random(400_000) < 0.3, codes[0], codes[j]) for j in (1, 3)),
    ]
    tree = np.stack([*columns, codes[4], codes[5]])
    _, measured, gate, _ = run(tree, Domain.of(dict.fromkeys("abcde", 2)), epsilon=0.3, n=20, seed=1)
    assert "scores of triples" in [c.name for c in gate.account.charges]
    assert max(len(m.attributes) for m in measured) == 2


def test_precise_scores_of_triples_cost_less():
    def share(n):
        codes, domain = parity(n=n)
        _, _, gate, _ = run(codes, domain, epsilon=2.0, n=20)
        scores = next(c.rho for c in gate.account.charges if c.name == "scores of triples")
        return scores / sum(c.rho for c in gate.account.charges)

    assert share(400_000) == pytest.approx(share(4_000) / 4, rel=0.15)  # the share of one-ways differs a little


def with_gains(*gains):
    """The usual constants, but for what triples must gain; no set is strong enough to take more."""
    weak = replace(TUNING.orders, strong=np.inf, strongest=0.0)
    return replace(TUNING, triples=replace(TUNING.triples, gains=gains), orders=weak)


def test_a_larger_part_goes_to_triples_only_where_it_wins_much_more():
    def part(*gains):
        codes, domain = parity()
        measured = run(codes, domain, epsilon=2.0, n=20, tuning=with_gains(*gains))[1]
        start = next(i for i, m in enumerate(measured) if len(m.attributes) == 3)
        precision = [1 / m.sigma**2 for m in measured[start:]]
        return sum(p for p, m in zip(precision, measured[start:], strict=True) if len(m.attributes) == 3) / sum(
            precision
        )

    small, large = TUNING.triples.parts
    assert part(2.0, 1e9) == pytest.approx(small, rel=0.02)
    assert part(2.0, -1e9) == pytest.approx(large, rel=0.02)


def test_noisier_pairs_still_admit_triples_whose_scores_are_precise():
    system = run(*parity(n=200), epsilon=1.0, n=10)[3]
    cost = system.cost.scaled(0.5)

    def admits(error, size):  # for as many records that 15 pairs of `size` cells are predicted to err by `error` each
        cells = np.full(15, float(size))
        total = system.noise.error(cells, cost) / 30 / error
        view = SimpleNamespace(domain=system.domain, total=total)
        pairs = SimpleNamespace(cells=cells, cost=cost)
        return triples_may_pay(view, system.budget_plan(total), pairs, 20)

    low = TUNING.triples.low_noise
    assert admits(0.9 * low, size=4)
    assert admits(2.9 * low, size=4)  # few values: triples are cheap, and pairs may hold nothing
    assert not admits(3.1 * low, size=4)
    assert not admits(1.5 * low, size=20)  # few records: a score's noise is more than 1 % of them
    assert admits(1.5 * low, size=400)  # many: below 1 %
    assert not admits(2.1 * low, size=400)


def test_without_triples_that_pay_the_budget_goes_back_to_pairs():
    codes, domain = parity()
    _, measured, gate, system = run(codes, domain, epsilon=2.0, tuning=with_gains(1e9, 1e9))
    assert "scores of triples" in [c.name for c in gate.account.charges]
    names = [m.attributes for m in measured]
    assert max(len(n) for n in names) == 2
    pairs = [n for n in names if len(n) == 2]
    assert all(names.count(p) == 2 for p in pairs)
    assert 0.999 * system.cost.rho < gate.account.spent <= system.cost.rho * (1 + 1e-9)


def test_repeated_measurements_count_as_one_by_their_precision():
    a = Measurement(attributes=("a",), values=np.array([10.0, 0.0]), sigma=1.0)
    b = Measurement(attributes=("a",), values=np.array([0.0, 10.0]), sigma=2.0)
    c = Measurement(attributes=("b",), values=np.array([1.0]), sigma=2.0)
    first, second = merged([a, b, c])
    assert np.allclose(first.values, [8.0, 2.0])
    assert first.sigma == pytest.approx(0.8**0.5)
    assert second.values.tolist() == [1.0]


def test_values_whose_counts_show_their_order_are_merged_with_their_neighbours():
    counts = np.rint(3000 * np.exp(-0.5 * ((np.arange(60) - 25) / 9) ** 2))
    other = np.random.default_rng(5).permutation(counts)
    domain = Domain.of({"a": 60, "b": 60})
    ones = [
        Measurement(attributes=(name,), values=values, sigma=20.0)
        for name, values in (("a", counts), ("b", other))
    ]  # fmt: skip
    maps = {n: r.map for n, r in RlsEvidence(domain, ones, None).recodes(16.0).items()}
    assert (np.diff(maps["a"]) >= 0).all()
    assert (np.diff(maps["b"]) < 0).any()


@pytest.mark.slow
def test_scores_of_triples_without_signal_choose_none():
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, (16, 30_000))
    for j in range(1, 16):
        bits[j] = np.where(rng.random(30_000) < 0.7, bits[j - 1], bits[j])
    domain = Domain.of({f"a{j:02d}": 2 for j in range(16)})
    _, measured, gate, _ = run(bits.astype(np.uint8), domain, epsilon=0.3, seed=1)  # the largest stands out by 3.7
    assert "scores of triples" in [c.name for c in gate.account.charges]
    assert max(len(m.attributes) for m in measured) == 2


@pytest.mark.parametrize("setting", [{"even": False}, {"resolution": 4}, {"one_way_share": 0.5}, {"effort": 0.1}])
def test_every_setting_changes_the_records(setting):
    codes, domain = chain()
    assert not np.array_equal(run(codes, domain, n=800)[0], run(codes, domain, n=800, settings=setting)[0])


def wide_number(n=6_000, missing=0.05):
    """A number of 400 bins with missing values, and a category that follows it."""
    rng = np.random.default_rng(9)
    x = np.clip(rng.normal(150, 40, n), 0, 399).astype(np.uint16)
    group = np.clip(x // 100 + rng.integers(0, 2, n), 0, 4)
    x = np.where(rng.random(n) < missing, 400, x)
    fine = CodedAttribute(name="x", size=401, ordered=True, special=1, number=True)
    return np.stack([x, group]).astype(np.uint16), Domain((fine, CodedAttribute(name="g", size=5)))


@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_a_number_of_many_bins_is_measured_a_second_time_at_coarse_values_for_a_part_of_its_cost(delta):
    codes, domain = wide_number()
    made, measured, gate, system = run(codes, domain, delta=delta, n_public=6_000)
    plan = system.budget_plan(6_000.0)
    of_x = [m for m in measured if m.attributes == ("x",)]
    assert len(of_x) == 2 and not of_x[0].recodes and 8 < of_x[1].cells <= 40
    kinds = [c.kind for c in gate.account.charges]
    assert kinds.count("1-way") == 3 == system.steps(6_000.0)[0].parts[0]
    amount = (lambda c: c.epsilon) if delta == 0 else (lambda c: c.rho)
    charged = [amount(c) for c in gate.account.charges if c.kind == "1-way"]
    planned = [*map(amount, plan.one_ways), *(amount(c) for c in plan.coarse_one_ways if c)]
    assert charged == pytest.approx(planned)
    assert plan.coarse_one_ways[1] is None
    share = 0.25 if delta else 0.25**0.5 / (0.25**0.5 + 0.75**0.5)
    assert charged[2] == pytest.approx(share * (charged[0] + charged[2]))
    assert abs((made[0] == 400).mean() - 0.05) < 0.03


def test_coarse_one_ways_of_nothing_and_of_a_table_with_one_attribute_are_served():
    codes, domain = wide_number()
    alone = Domain((domain.attributes[0],))
    for rows, where in ((codes[:1], alone), (codes[:1, :0], alone), (codes[:, :0], domain), (codes[:, :1], domain)):
        made, *_ = run(rows, where, n=50)
        assert made.shape == (len(where), 50)


def small_numbers(n=140):
    """Two numbers of 600 bins that have nothing to do with each other, and a short list."""
    rng = np.random.default_rng(5)
    codes = np.stack([rng.normal(200, 40, n), rng.normal(300, 60, n), rng.integers(0, 3, n)]).clip(0, 599)
    numbers = [CodedAttribute(name=k, size=600, ordered=True, number=True) for k in "xy"]
    return codes.astype(np.uint16), Domain((*numbers, CodedAttribute(name="z", size=3)))


def test_numbers_of_few_records_are_counted_in_blocks_and_keep_their_middle_and_spread():
    codes, domain = small_numbers()
    for seed in range(3):
        out, measured, _, _ = run(codes, domain, seed=seed)
        ones = [m for m in measured if len(m.attributes) == 1]
        assert all(m.cells <= 18 for m in ones)  # 16 runs and both ends
        for j in range(2):
            assert np.median(out[j]) == pytest.approx(np.median(codes[j]), abs=60)
            assert np.subtract(*np.quantile(out[j].astype(float), [0.9, 0.1])) < 330  # a range of 600 bins has 480


class Low(SeededNoise):
    def gaussian(self, sigma, size):
        return np.full(size, -round(sigma), dtype=np.int64)


def test_a_small_table_does_not_come_out_empty_for_noise_below_zero():
    codes, domain = small_numbers(40)
    out, measured, _, _ = run(codes, domain, noise=Low())
    assert [m.attributes for m in measured[:3]] == [(), (), ("x",)]  # few records: their number is released twice
    assert out.shape[1] > 2


def test_where_scores_are_noise_next_to_no_pair_is_measured_and_one_ways_get_what_is_left():
    sizes = {f"a{i}": 4 for i in range(16)}
    domain, codes = Domain.of(sizes), np.random.default_rng(0).integers(0, 4, (16, 150)).astype(np.uint8)
    _, measured, gate, system = run(codes, domain)
    assert system.budget_plan(150).hopeless
    assert len({m.attributes for m in measured if len(m.attributes) > 1}) <= 3  # of 120
    assert gate.account.spent > 0.999 * system.cost.rho


def test_where_no_pair_pays_the_one_ways_are_measured_once_more():
    codes, domain = np.zeros((2, 3_000), dtype=np.uint8), Domain.of({"a": 8, "b": 8})
    _, measured, gate, system = run(codes, domain)
    assert [m.attributes for m in measured].count(("a",)) == 2
    assert measured.scores is not None
    assert gate.account.spent > 0.999 * system.cost.rho


def test_one_ways_are_counted_in_one_reading_each_round_whether_in_blocks_or_not():
    read = []

    class Watching(Gate):
        def release_tables(self, wanted, count):
            read.append([w.kind for w in wanted])
            return super().release_tables(wanted, count)

    codes, domain = small_numbers()
    system = configure("rls", {}).calibrate(Task(domain=domain, unit=Unit(), budget=Budget(epsilon=1.0, delta=1e-9)))
    gate = Watching(account=Account(system.cost), noise=SeededNoise(0), unit=Unit())
    system.measure(MemoryCounter(codes, domain), gate=gate)
    assert read[:4] == [["total"], ["total"], ["1-way"] * 3, ["1-way"] * 2]


def wide(columns):
    return Task(
        domain=Domain.of({f"x{i}": 2 for i in range(columns)}), unit=Unit(), budget=Budget(epsilon=1.0, delta=1e-9)
    )


def test_a_table_with_too_many_pairs_is_refused_with_the_columns_that_fit_before_anything_is_made_ready():
    config = configure("rls", {})
    config.check(wide(2_000))
    for refused in (config.check, config.calibrate):
        with pytest.raises(SizeError, match=r"2,001 columns, whose 2,001,000 pairs .* 2,000 columns fit"):
            refused(wide(2_001))
    configure("independent", {}).check(wide(5_001))


def test_of_columns_that_follow_one_column_only_its_pairs_are_measured():
    rng, n = np.random.default_rng(4), 8_000
    source = rng.integers(0, 4, n)
    columns = [source, *(np.where(rng.random(n) < 0.7, source, rng.integers(0, 4, n)) for _ in range(9))]
    domain = Domain.of({f"a{i}": 4 for i in range(10)})
    _, measured, _, _ = run(np.stack(columns).astype(np.uint8), domain, epsilon=0.5)
    pairs = {m.attributes for m in measured if len(m.attributes) == 2}
    assert {("a0", f"a{i}") for i in range(1, 10)} <= pairs
    assert len(pairs) < 20  # of 45, all of which depend
