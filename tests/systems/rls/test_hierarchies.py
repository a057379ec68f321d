"""Columns that follow from others are found with budget, measured once, and follow in every synthetic record."""

from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.released_file import load_measurements, pack_measurements
from dpsyn_core.estimate.marginals.types import Follower, Measurement, ReleasedTables, Together
from dpsyn_core.estimate.records.rls.fit import Target, fit_records, schedule
from dpsyn_core.estimate.records.shards import Shard
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.progress import silent
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.rls.followers import Mark, _alike, candidates
from dpsyn_core.systems.rls.hierarchies import Agreements, Hierarchies
from dpsyn_core.systems.rls.system import RlsConfig
from tests.seeded import SeededNoise

N = 8_000
SIZES = {"x": 4, "district": 12, "school": 40, "y": 3, "region": 3}
DISTRICT = np.arange(40) * 7 % 12
REGION = np.arange(12) % 3


def table(seed=0, *, apart=0.0):
    """Schools in districts in regions; x depends on the region, y on nothing. apart: records in any district."""
    rng = np.random.default_rng(seed)
    school = rng.choice(40, N, p=np.arange(20, 60) / np.arange(20, 60).sum())
    district = np.where(rng.random(N) < apart, rng.integers(0, 12, N), DISTRICT[school])
    region = REGION[DISTRICT[school]]
    x = np.where(rng.random(N) < 0.6, region, rng.integers(0, 4, N))
    return np.stack([x, district, school, rng.integers(0, 3, N), region]).astype(np.uint8)


def run(codes, domain, *, epsilon=2.0, delta=1e-9, seed=0, unit=None):
    task = Task(domain=domain, unit=unit or Unit(), budget=Budget(epsilon=epsilon, delta=delta), n_public=None)
    system = RlsConfig().calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    return system, measured, gate.account.charges


@pytest.fixture(scope="module")
def released():
    return run(table(), Domain.of(SIZES))


def test_a_chain_follows_from_its_finest_column_in_every_record(released):
    """40 schools of 100 to 300 records, whose counts have noise of some 10: a wrong place is beyond 7 deviations."""
    system, measured, _ = released
    assert {(f.name, f.of) for f in measured.followers} == {("district", "school"), ("region", "district")}
    x, district, school, _, region = system.synthesize(measured, None, rng=np.random.default_rng(0))
    assert np.array_equal(district, DISTRICT[school])
    assert np.array_equal(region, REGION[district])
    assert (x == region).mean() > 0.6  # .7 of the real records; .3 if they were made independently


def test_shards_keep_it_too(released):
    system, measured, _ = released
    make = system.sharded(measured, 3_000, rng=np.random.default_rng(0)).begin(silent)
    shard = Shard(number=0, start=0, n_records=3_000, whole=3_000)
    _, district, school, _, region = make(shard, np.random.default_rng(1), silent)
    assert np.array_equal(district, DISTRICT[school])
    assert np.array_equal(region, REGION[district])


def test_tables_of_columns_with_one_root_are_measured_once(released):
    charges = released[2]
    names = [c.name for c in charges if c.name.startswith("marginal district") or "school" in c.name]
    assert [n for n in names if "school" in n and "district" in n] == ["marginal district x school"]
    assert not any("school" in n and "region" in n for n in names)
    scores = [c for c in charges if c.name == "exceptions to what follows"]
    assert {c.kind for c in scores} == {"scores"}
    assert sum(c.rho for c in scores) < 0.03 * sum(c.rho for c in charges)


def test_a_chain_is_found_without_a_delta():
    """Noise of 12 or so in the tables of the chain, and schools of 100 records or more."""
    system, measured, charges = run(table(), Domain.of(SIZES), epsilon=12.0, delta=0.0)
    assert {c.mechanism for c in charges} == {"geometric"}
    _, district, school, _, region = system.synthesize(measured, None, rng=np.random.default_rng(0))
    assert (district == DISTRICT[school]).mean() > 0.97
    assert (region == REGION[DISTRICT[school]]).mean() > 0.97


def test_exceptions_are_kept():
    """2.3 % of the records stand in another district, which is released with a deviation of at most .3 %."""
    system, measured, charges = run(table(apart=0.025), Domain.of(SIZES), epsilon=6.0)
    assert {f.name for f in measured.followers} == {"district", "region"}
    *_, second = [c for c in charges if c.name == "exceptions to what follows"]
    assert second.scale < 0.003 * N
    _, district, school, _, region = system.synthesize(measured, None, rng=np.random.default_rng(0))
    assert (district != DISTRICT[school]).mean() == pytest.approx(0.023, abs=0.012)
    assert np.array_equal(region, REGION[DISTRICT[school]])


def test_nothing_is_spent_where_nothing_can_follow():
    rng = np.random.default_rng(0)
    codes = np.stack([rng.choice(4, N, p=p) for p in ([0.1, 0.2, 0.3, 0.4], [0.15, 0.35, 0.5, 0], [0.45, 0.55, 0, 0])])
    _, measured, charges = run(codes.astype(np.uint8), Domain.of({"a": 4, "b": 4, "c": 4}), epsilon=3.0)
    assert measured.followers == ()
    assert not any(c.name.startswith("exceptions") for c in charges)


def test_a_map_that_noise_would_hide_is_not_measured():
    """Days of 30 records each: most would get the largest noise of 300 other days, and be lost in all pairs."""
    day = np.arange(9_000) % 300
    codes = np.stack([day, day, np.arange(9_000) % 7 % 3]).astype(np.uint16)
    domain = Domain.of({"called": 300, "entered": 300, "kind": 3})
    for epsilon, found in ((1.0, 0), (20.0, 1)):
        system, measured, _ = run(codes, domain, epsilon=epsilon)
        assert len(measured.followers) == found
        called, entered, _ = system.synthesize(measured, None, rng=np.random.default_rng(0))
        for made in (called, entered):
            assert np.abs(np.bincount(made, minlength=300) / len(made) - 1 / 300).sum() < 0.5


def test_a_column_that_nearly_follows_does_not():
    """A quarter of the records have any value of the other column: 20 % are exceptions, some 30 deviations too many."""
    rng = np.random.default_rng(0)
    fine = rng.integers(0, 40, N)
    coarse = np.where(rng.random(N) < 0.25, rng.integers(0, 5, N), fine % 5)
    codes = np.stack([fine, coarse, rng.integers(0, 3, N)]).astype(np.uint8)
    _, measured, charges = run(codes, Domain.of({"fine": 40, "coarse": 5, "c": 3}), epsilon=3.0)
    assert any(c.name.startswith("exceptions") for c in charges)
    assert measured.followers == ()


def test_likely_pairs_are_those_whose_counts_agree(released):
    """Of two columns, and of few values all sums are tried; the sum of .1 and .3 is .4, and .35 is none."""
    system, _, _ = released

    def view(*shares):
        domain = Domain.of({f"c{i}": len(s) for i, s in enumerate(shares)})
        ones = [
            Measurement(attributes=(n,), values=N * np.array(s, dtype=float), sigma=5.0)
            for n, s in zip(domain.names, shares, strict=True)
        ]
        return replace_domain(system, domain).view(ones)

    def replace_domain(system, domain):
        return RlsConfig().calibrate(
            Task(domain=domain, unit=Unit(), budget=Budget(epsilon=2.0, delta=1e-9), n_public=N)
        )

    assert [(c.of, c.name) for c in candidates(view((0.1, 0.3, 0.6), (0.4, 0.6)))] == [("c0", "c1")]
    assert candidates(view((0.1, 0.3, 0.6), (0.35, 0.65))) == []
    assert candidates(view((0.1, 0.3, 0.6), (0.5, 0.5))) == []  # no value holds the 60 %
    assert candidates(view((0.97, 0.01, 0.02), (0.98, 0.02))) == []  # hardly any records are outside of one value


def hierarchies():
    """b follows from a by (1, 0, 1); d from b by (2, 0); c from nothing."""
    domain = Domain.of({"b": 2, "a": 3, "c": 2, "d": 3})
    followers = (Follower(name="d", of="b", exceptions=0.0), Follower(name="b", of="a", exceptions=0.5))
    tables = [
        Measurement(attributes=("b", "a"), values=np.array([[1.0, 30, -2], [20, 0, 10]]), sigma=2.0),
        Measurement(attributes=("b", "d"), values=np.array([[0.0, 1, 31], [30, 0, -1]]), sigma=2.0),
    ]
    ones = [np.array(v, dtype=float) for v in ((30, 30), (20, 30, 10), (50, 10), (30, 0, 30))]
    return Hierarchies(domain, followers, {m.attributes: m for m in tables}, ones)


def test_maps_are_read_off_the_tables_and_chains_put_together():
    h = hierarchies()
    assert (h.kept, h.root) == ([1, 2], [1, 1, 2, 1])
    assert [m.tolist() for m in h.maps] == [[1, 0, 1], [0, 1, 2], [0, 1], [0, 2, 0]]
    rows = np.array([[0, 1], [1, 0], [2, 1]], dtype=np.uint16)
    assert h.whole(rows).tolist() == [[1, 0, 1, 0], [0, 1, 0, 2], [1, 2, 1, 0]]
    assert h.tells(("b", "d"))
    assert not h.tells(("a", "c"))


def test_exceptions_are_drawn_for_the_stated_share_of_the_records():
    """Half of 20,000 records are exceptions: the share of others than what follows has a deviation of .0035."""
    rows = np.zeros((20_000, 2), dtype=np.uint16)
    b, a, _, d = hierarchies().whole(rows, np.random.default_rng(0)).T
    assert (b != 1).mean() == pytest.approx(0.5, abs=0.02)
    assert not a.any()
    assert not d.any()  # follows from what a gives, which has no exceptions


def test_counts_of_narrowed_tables_are_those_of_whole_records():
    h, rng = hierarchies(), np.random.default_rng(0)
    rows = np.stack([rng.integers(0, 3, 200), rng.integers(0, 2, 200)], axis=1).astype(np.uint16)
    whole = h.whole(rows)

    def target(*places):
        maps = tuple(np.arange(s) for s in (2, 3, 2, 3))
        shape = tuple(len(maps[i]) for i in places)
        return Target(attributes=places, maps=tuple(maps[i] for i in places), values=np.zeros(shape), sigma=1.0)

    def counts(rows, t):
        out = np.zeros(t.values.shape, dtype=int)
        np.add.at(out, tuple(m[rows[:, i]] for i, m in zip(t.attributes, t.maps, strict=True)), 1)
        return out

    tables = [target(0), target(1), target(2), target(3), target(0, 2), target(0, 1), target(0, 1, 2)]
    counted = h.narrowed(tables, counted=True)
    assert all(np.array_equal(counts(rows, x), counts(whole, t)) for x, t in zip(counted, tables, strict=True))
    fitted = h.narrowed(tables)
    assert [t.attributes for t in fitted] == [(0,), (1,), (0,), (0,), (0, 1)]  # the kept one-ways first
    assert all(len(set(t.attributes)) == len(t.attributes) for t in fitted)


def test_what_follows_is_kept_in_the_file_of_a_release(released, tmp_path):
    system, measured, _ = released
    path = tmp_path / "released.json.gz"
    path.write_bytes(pack_measurements(measured))
    again = load_measurements(path, system.domain)
    assert again.followers == measured.followers
    first, second = (system.synthesize(m, 500, rng=np.random.default_rng(0)) for m in (measured, again))
    assert np.array_equal(first, second)


@pytest.mark.parametrize(
    "followers",
    [
        (Follower(name="x", of="school", exceptions=0.0),),  # without a table
        (Follower(name="district", of="school", exceptions=1.5),),
        tuple(
            Follower(name=n, of=m, exceptions=0.0) for n, m in (("district", "school"), ("school", "district"))
        ),  # in a circle
    ],
)
def test_a_file_whose_followers_do_not_fit_is_refused(released, tmp_path, followers):
    system, measured, _ = released
    tables = [m for m in measured if m.attributes == ("district", "school")]
    wrong = ReleasedTables(tables)
    wrong.followers = followers
    path = tmp_path / "released.json.gz"
    path.write_bytes(pack_measurements(wrong))
    with pytest.raises(TableError, match="does not hold released marginals"):
        load_measurements(path, system.domain)
    wrong.followers = (replace(measured.followers[0], name="district", of="school"),)
    path.write_bytes(pack_measurements(wrong))
    assert load_measurements(path, system.domain).followers == wrong.followers


ITEMS = {"x": 4, "i0": 6, "i1": 6, "filter": 3, "i2": 6, "amount": 40, "claims": 4}


def survey(seed=0):
    """Three items that are asked of two of three kinds of people, and an amount that is 0 where no claim was made."""
    rng = np.random.default_rng(seed)
    group, claims = rng.choice(3, N, p=[0.5, 0.2, 0.3]), np.minimum(rng.poisson(0.4, N), 3)
    trait = rng.integers(0, 3, N)
    items = [np.where(group == 2, 5, np.minimum(trait + rng.integers(0, 3, N), 4)) for _ in range(3)]
    x = np.where(rng.random(N) < 0.5, group, rng.integers(0, 4, N))
    amount = np.where(claims == 0, 0, 1 + rng.geometric(0.1, N).clip(1, 38))
    columns = {"x": x, "i0": items[0], "i1": items[1], "filter": group, "i2": items[2], "amount": amount}
    return np.stack([*columns.values(), claims]).astype(np.uint8)


def survey_domain():
    kinds = {"amount": {"ordered": True, "number": True}}
    return Domain(tuple(CodedAttribute(name=n, size=s, **kinds.get(n, {})) for n, s in ITEMS.items()))


@pytest.fixture(scope="module")
def asked():
    return run(survey(), survey_domain())


def test_no_synthetic_record_breaks_a_skip_or_a_zero(asked):
    """Scores of 8,000 records with a deviation of some 60: those of values together are 0, of others 1,500 or more."""
    system, measured, charges = asked
    groups = [dict(t.codes) for t in measured.together]
    assert {"filter": (2,), "i0": (5,), "i1": (5,), "i2": (5,)} in groups
    assert {"claims": (0,), "amount": (0,)} in groups
    assert len(groups) == 2
    x, i0, i1, group, i2, amount, claims = system.synthesize(measured, None, rng=np.random.default_rng(0))
    for item in (i0, i1, i2):
        assert np.array_equal(item == 5, group == 2)
    assert np.array_equal(claims == 0, amount == 0)
    assert (x == group).mean() > 0.5  # .63 of the real records, .3 if they were made independently
    scores = [c for c in charges if c.name == "exceptions to what follows"]
    assert sum(c.rho for c in scores) < 0.1 * sum(c.rho for c in charges)


def panel(waves=3, stay=0.9, seed=0):
    """Three states of the same people in each wave: whoever does not stay comes from any state and goes to any."""
    rng = np.random.default_rng(seed)
    shares = np.array([0.5, 0.38, 0.12])
    states = [rng.choice(3, 4_000, p=shares)]
    for _ in range(waves - 1):
        states.append(np.where(rng.random(4_000) < stay, states[-1], rng.choice(3, 4_000, p=shares)))
    return np.stack(states).astype(np.uint8)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_a_state_that_people_come_to_and_leave_is_not_the_same_in_every_wave(epsilon):
    """Its counts are the same in all waves, and of 480 people 42 come and 42 go from one wave to the next."""
    codes = panel()
    domain = Domain.of({f"wave{t}": 3 for t in range(len(codes))})
    for seed in range(4):
        _, measured, _ = run(codes, domain, epsilon=epsilon, seed=seed)
        for group in measured.together:
            columns = [np.isin(codes[domain.index(n)], kept) for n, kept in group.codes.items()]
            apart = np.any(columns, axis=0) & ~np.all(columns, axis=0)
            assert apart.mean() < 0.01, (seed, group)


@pytest.mark.parametrize("seed", [0, 4, 7])
def test_those_who_are_dead_were_not_all_dead_two_waves_before(seed):
    """A state that nobody leaves, and that 70 more people come to in each wave; counts have a noise of some 13."""
    rng = np.random.default_rng(7)
    wave = rng.choice(5, 6_000, p=[0.2, 0.5, 0.1, 0.1, 0.1])
    waves = [wave]
    for _ in range(7):
        moves = rng.random(6_000) > 0.9
        wave = np.where((rng.random(6_000) < 0.012) | (wave == 5), 5, np.where(moves, rng.integers(0, 5, 6_000), wave))
        waves.append(wave)
    codes = np.stack(waves).astype(np.uint8)
    _, measured, _ = run(codes, Domain.of({f"w{i}": 6 for i in range(8)}), epsilon=3.0, seed=seed)
    for group in measured.together:
        counts = [int(np.isin(codes[int(n[1])], c).sum()) for n, c in group.codes.items()]
        assert max(counts) - min(counts) < 6 * 13 * 2**0.5, group


def test_values_are_alike_whose_counts_are_no_further_from_the_mean_of_the_lower_ones_than_noise():
    """20 is 3 deviations of the difference from one count (3 x 5 x root of 2 = 21.2), and not from the mean of four."""
    marks = [
        Mark(name=n, code=0, count=c, sigma=5.0) for n, c in zip("abcdef", (121, 100, 100, 100, 100, 70), strict=True)
    ]
    assert [[m.name for m in run] for run in _alike(marks, 3.0)] == [["f"], ["b", "c", "d", "e"], ["a"]]
    assert [[m.name for m in run] for run in _alike(marks[:2], 3.0)] == [["a", "b"]]
    assert [[m.name for m in run] for run in _alike([replace(marks[0], count=121.3), marks[1]], 3.0)] == [["b"], ["a"]]


def test_shards_break_none_either(asked):
    system, measured, _ = asked
    make = system.sharded(measured, 3_000, rng=np.random.default_rng(0)).begin(silent)
    shard = Shard(number=0, start=0, n_records=3_000, whole=3_000)
    _, i0, _, group, i2, amount, claims = make(shard, np.random.default_rng(1), silent)
    assert np.array_equal(i0 == 5, group == 2)
    assert np.array_equal(i2 == 5, group == 2)
    assert np.array_equal(claims == 0, amount == 0)


def test_a_file_keeps_what_columns_have_together(asked, tmp_path):
    system, measured, _ = asked
    path = tmp_path / "released.json.gz"
    path.write_bytes(pack_measurements(measured))
    assert load_measurements(path, system.domain).together == measured.together
    wrong = ReleasedTables(measured)
    for codes in ({"i0": (5,)}, {"i0": (5,), "i1": (6,)}, {"i0": (5,), "x": (0, 1, 2, 3)}):
        wrong.together = (Together(codes=codes),)
        path.write_bytes(pack_measurements(wrong))
        with pytest.raises(TableError, match="does not hold released marginals"):
            load_measurements(path, system.domain)


def test_independence_is_that_among_the_asked_and_among_the_others(asked):
    """Nobody has an answer to one item and a skip of the other, and answers are independent of each other."""
    system, measured, _ = asked
    view = system.view(measured)
    table = view.product(("i0", "i1"), {n: Coarsening.identity(6) for n in ("i0", "i1")})
    first, second = (view.one_ways[view.domain.index(n)] for n in ("i0", "i1"))
    assert not table[5, :5].any()
    assert not table[:5, 5].any()
    assert table.sum(axis=1) == pytest.approx(first)
    assert table.sum(axis=0) == pytest.approx(second)
    assert table[:5, :5] == pytest.approx(np.outer(first[:5], second[:5]) / first[:5].sum())


def test_dealt_records_agree_and_moves_keep_it():
    domain = Domain.of({"f": 3, "i": 4, "j": 4})
    agreements = Agreements(
        Hierarchies(domain, (), {}, [np.ones(s) for s in domain.sizes]),
        [Together(codes={"f": (2,), "i": (3,)}), Together(codes={"i": (3, 0), "j": (0,)})],
    )
    rng = np.random.default_rng(0)
    rows = np.stack([rng.integers(0, s, 400) for s in domain.sizes], axis=1).astype(np.uint16)
    before, p = rows.copy(), [np.ones(s) for s in domain.sizes]
    firm = agreements.deal(rows, p, rng)
    assert np.array_equal(rows[:, 0], before[:, 0])  # the filter decides

    def agree():
        return np.array_equal(rows[:, 0] == 2, rows[:, 1] == 3) and np.array_equal(
            np.isin(rows[:, 1], (3, 0)), rows[:, 2] == 0
        )

    assert agree()
    table = Target(attributes=(0, 2), maps=(np.arange(3), np.arange(4)), values=rng.uniform(0, 80, (3, 4)), sigma=3.0)
    alone = [Target(attributes=(i,), maps=(np.arange(len(q)),), values=100 * q, sigma=5.0) for i, q in enumerate(p)]
    moved = rows.copy()
    pace = schedule(len(rows), 3, [*alone, table, *firm])
    assert pace == schedule(len(rows), 3, [*alone, table])
    fit_records(rows, [*alone, table, *firm], p, pace=pace, rng=rng)
    assert agree()
    assert (rows != moved).any()
