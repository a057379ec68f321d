"""What a public table is trusted with, against a second implementation in plain loops, number by number."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.estimate import Coarsening, Measurement, Target
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.public_table import PublicTable
from dpsyn_core.systems.rls import prior
from dpsyn_core.systems.rls.prior import Doubt, RlsPrior, joined, trust_of

CELLS = [(k, t) for k in range(13) for t in range(22)]
MULTIPLES = [(10 ** (4 * k / 12), 0.0 if t == 0 else 10 ** (-2 + 10 * (t - 1) / 20)) for k, t in CELLS]
AT_FIRST = [1 / ((k + 1) * (t + 1)) for k, t in CELLS]


def variances(spread):
    """Of every cell, for each pair of multiples."""
    flat = [float(x) for x in np.ravel(spread)]
    return [[a * x + b * sum(flat) / len(flat) for x in flat] for a, b in MULTIPLES]


def log_likelihood(one):
    found = [float(x) for x in np.broadcast_to(one.score, len(MULTIPLES))]
    expected, spread = np.ravel(one.expected), np.ravel(one.spread)
    for place, values, sigma in one.tables:
        sums, parts = [0.0] * len(values), [0.0] * len(values)
        for at, e, s in zip(place, expected, spread, strict=True):
            sums[at] += e
            parts[at] += s
        for g, of_cells in enumerate(variances(parts)):
            for value, e, v in zip(values, sums, of_cells, strict=True):
                found[g] -= 0.5 * (math.log(sigma**2 + v) + (value - e) ** 2 / (sigma**2 + v))
    return found


def fits(one, values):
    for place, counts, sigma in one.tables:
        ours = sum((c - sum(np.ravel(values)[place == i])) ** 2 for i, c in enumerate(counts))
        before = sum((c - sum(np.ravel(one.estimate)[place == i])) ** 2 for i, c in enumerate(counts))
        n = len(counts)
        if ours > max(before, n * sigma**2) + 3 * math.sqrt(2 * n) * sigma**2:
            return False
    return True


def put_together(tables):
    chances = []
    for one in tables:
        logs = log_likelihood(one)
        chances.append([math.exp(x - max(logs)) for x in logs])
    first = [x / sum(AT_FIRST) for x in AT_FIRST]
    weights, posterior = first, []
    for _ in range(300):
        posterior = [[c * w for c, w in zip(row, weights, strict=True)] for row in chances]
        posterior = [[x / sum(row) for x in row] for row in posterior]
        weights = [
            (sum(col) + f) / (len(tables) + 1) for col, f in zip(zip(*posterior, strict=True), first, strict=True)
        ]
    out = []
    for one, row in zip(tables, posterior, strict=True):
        error, shape = np.ravel(one.error), np.shape(one.expected)
        trusted = np.zeros(len(error))
        for p, of_cells in zip(row, variances(one.spread), strict=True):
            if p > 1e-6:
                trusted += [p * e / max(e + v, 1e-12) for e, v in zip(error, of_cells, strict=True)]
        trusted = trusted.reshape(shape)
        values = one.estimate + trusted * (one.expected - one.estimate)
        if (trusted * one.error).sum() < 0.4 * one.error.sum() or not fits(one, values):
            values, trusted = one.estimate, np.zeros(shape)
        out.append((values, math.sqrt(max((1 - trusted).mean(), 1e-4))))
    return out


def doubts(seed, sizes=((6,), (3, 4), (5,)), *, apart=1.0, sigma=8.0):
    """Tables of several shapes, each measured value by value and in coarse values, the last one with a score."""
    rng = np.random.default_rng(seed)
    out = []
    for number, shape in enumerate(sizes):
        expected = rng.uniform(5, 60, shape)
        truth = np.maximum(expected + apart * rng.normal(0, np.sqrt(expected)), 0)
        values = truth + rng.normal(0, sigma, shape)
        halves = np.arange(truth.size) // 2
        coarse = np.bincount(halves, truth.ravel()) + rng.normal(0, sigma / 2, halves[-1] + 1)
        out.append(
            Doubt(
                estimate=values, error=rng.uniform(0.5, 1.5, shape) * sigma**2, expected=expected,
                spread=2 * expected + 1e-12,
                tables=((np.arange(truth.size), values.ravel(), sigma), (halves, coarse, sigma / 2)),
                score=0.0 if number < 2 else -0.001 * np.arange(286.0),
            )
        )  # fmt: skip
    return out


def test_multiples_of_the_spread_are_those_that_are_tried():
    assert np.allclose(prior.GRID, MULTIPLES, rtol=1e-12)
    assert np.allclose(prior.FIRST, np.array(AT_FIRST) / sum(AT_FIRST), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_likelihoods_are_those_of_normal_cells(seed):
    for one in doubts(seed):
        assert np.allclose(one.likelihood(), log_likelihood(one), rtol=1e-10)


@pytest.mark.parametrize(("seed", "apart"), [(0, 1.0), (1, 1.0), (2, 3.0), (3, 12.0)])
def test_joined_tables_are_those_of_plain_loops(seed, apart):
    tables = doubts(seed, apart=apart)
    for (values, kept), (sought, part) in zip(joined(tables), put_together(tables), strict=True):
        assert np.allclose(values, sought, rtol=1e-7)
        assert kept == pytest.approx(part, rel=1e-7)
    assert joined([]) == []


def test_an_expectation_that_is_sure_leaves_a_hundredth_of_the_noise_at_least():
    at = np.full(400, 50.0)
    one = Doubt(estimate=at, error=np.full(400, 1e8), expected=at, spread=np.full(400, 1e-9), tables=())
    assert joined([one] * 40)[0][1] >= 0.01
    exact = Doubt(estimate=at, error=np.full(400, 1e12), expected=at, spread=np.full(400, 1e-12),
                  tables=((np.arange(400), at, 1e-3),))  # fmt: skip
    assert joined([exact])[0][1] == pytest.approx(0.01)


@pytest.mark.parametrize("beyond", [-1e-6, 1e-6])
def test_values_fit_up_to_three_deviations_beyond_the_noise(beyond):
    counts, sigma = np.zeros(8), 5.0
    one = Doubt(estimate=counts, error=counts, expected=counts, spread=counts, tables=((np.arange(8), counts, sigma),))
    values = np.full(8, math.sqrt(sigma**2 * (8 + 3 * 4) / 8) + beyond)
    assert one.fits(values) == (beyond < 0)
    worse = Doubt(estimate=np.full(8, 10.0), error=counts, expected=counts, spread=counts, tables=one.tables)
    values = np.full(8, math.sqrt((800 + 3 * 4 * sigma**2) / 8) + beyond)
    assert worse.fits(values) == (beyond < 0)


def shrunk(values, variances_, facts):
    """Fay and Herriot by normal equations."""
    between, values = 0.0, np.asarray(values)
    for _ in range(30):
        w = [1 / (v + between) for v in variances_]
        normal = sum(x * np.outer(f, f) for x, f in zip(w, facts, strict=True))
        beta = np.linalg.pinv(normal) @ sum(x * y * f for x, y, f in zip(w, values, facts, strict=True))
        mean = [float(f @ beta) for f in facts]
        squares = [(y - m) ** 2 - v for y, m, v in zip(values, mean, variances_, strict=True)]
        between = max(sum(x * x * s for x, s in zip(w, squares, strict=True)) / sum(x * x for x in w), 0.0)
    out = []
    for y, m, v, f in zip(values, mean, variances_, facts, strict=True):
        keep = between / (between + v)
        doubt = keep * v + 0.03 * (1 - keep) ** 2 * float(f @ np.linalg.pinv(normal) @ f)
        out.append((m + keep * (y - m), doubt))
    return out


def trusted(pairs, alone, public, apart, sampling, sigmas):
    a2, b2 = sigmas[0] ** 2, sigmas[1] ** 2
    n = len(pairs)
    level1 = sum(max(x * x - a2, s * s) for x, s in zip(alone, sampling, strict=True)) / n
    level2 = sum(max(x * x - b2, s * s) for x, s in zip(public, sampling, strict=True)) / n
    of_first, of_second = 4 * a2 * level1 + 2 * a2 * a2, 4 * b2 * level2 + 2 * b2 * b2
    towards = [(x * x - a2 + d * d - (y * y - b2)) / (2 * d * d) for x, y, d in zip(alone, public, apart, strict=True)]
    noise = [(of_first + of_second) / (4 * d**4) for d in apart]
    parts = [min(max(w, 0.0), 1.0) for w, _ in shrunk(towards, noise, [np.ones(1)] * n)]
    left2, noise2 = [], []
    for x, y, d, w in zip(alone, public, apart, parts, strict=True):
        left2.append((1 - w) * (x * x - a2) + w * (y * y - b2) - w * (1 - w) * d * d)
        noise2.append((1 - w) ** 2 * of_first + w * w * of_second)
    out = {}
    rest = shrunk(left2, noise2, [np.array([1.0, d * d]) for d in apart])
    for p, w, d, s, (square, doubt) in zip(pairs, parts, apart, sampling, rest, strict=True):
        left = math.sqrt(max(square, s * s) + math.sqrt(doubt))
        if w > 0.3 and w * d > 1.25 * left:
            out[p] = (w, left, min(math.sqrt(doubt) / (2 * left), max(sigmas)))
    return out


@pytest.mark.parametrize(("seed", "sigmas", "part"), [
    (0, (60.0, 90.0), 0.9), (1, (20.0, 5.0), 0.4), (2, (5.0, 200.0), 0.7), (3, (300.0, 300.0), 0.8),
])  # fmt: skip
def test_trust_is_that_of_plain_loops(seed, sigmas, part):
    rng = np.random.default_rng(seed)
    pairs, apart, rest = [(f"a{i}", f"b{i}") for i in range(12)], rng.uniform(150, 900, 12), rng.uniform(40, 90, 12)
    share = np.clip(part + rng.normal(0, 0.2, 12), 0, 1)
    alone = np.hypot(share * apart, rest) + rng.normal(0, sigmas[0], 12)
    public = np.hypot((1 - share) * apart, rest) + rng.normal(0, sigmas[1], 12)
    found = trust_of(pairs, alone, public, apart, rest, sigmas)
    sought = trusted(pairs, alone, public, apart, rest, sigmas)
    assert found.keys() == sought.keys() and found
    for p, t in found.items():
        assert (t.part, t.left, t.deviation) == pytest.approx(sought[p], rel=1e-6)


CODES = np.array([[0, 0, 0, 0, 1, 1, 1, 2, 2, 3], [0, 0, 1, 1, 0, 1, 1, 2, 2, 1]], dtype=np.uint8)
DOMAIN = Domain.of({"a": 4, "b": 3})


def of_public(times=1):
    return RlsPrior(PublicTable(codes=np.tile(CODES, times), domain=DOMAIN))


def with_more_of_b(times):
    """A public table that lets one expect this many times as many records of the second column."""
    public = of_public()
    plain = public.shares
    public.shares = lambda names, maps: plain(names, maps) * (times if names == ("b",) else 1.0)
    return public


def test_shares_of_cells_without_a_record_are_what_records_seen_once_let_expect():
    """Three cells hold one record: three tenths go to the four empty ones, by the product of their margins."""
    counts = np.array([[2.0, 2, 0], [1, 2, 0], [0, 0, 2], [0, 1, 0]])
    weights = np.array([[0.0, 0, 4 * 2], [0, 0, 3 * 2], [2 * 3, 2 * 5, 0], [1 * 3, 0, 1 * 2]])
    sought = counts * 0.8 / 10 + 0.2 * weights / weights.sum()
    assert np.allclose(of_public().shares(("a", "b"), {}), sought)
    assert np.allclose(of_public().shares(("a",), {}), [0.4, 0.3, 0.2, 0.1])
    merged = {"a": Coarsening.of(np.array([0, 0, 1, 1]))}
    sought = np.array([[3.0, 4, 0], [0, 1, 2]])
    lone = np.array([[0.0, 0, 7 * 2], [3 * 3, 0, 0]])
    assert np.allclose(of_public().shares(("a", "b"), merged), sought * 0.9 / 10 + 0.1 * lone / lone.sum())


def test_no_more_than_half_of_the_records_are_expected_where_none_was_seen():
    one = RlsPrior(PublicTable(codes=np.array([[2]], dtype=np.uint8), domain=Domain.of({"a": 4})))
    assert np.allclose(one.shares(("a",), {}), [0.5 / 3, 0.5 / 3, 0.5, 0.5 / 3])
    twice = RlsPrior(PublicTable(codes=np.array([[2] * 8], dtype=np.uint8), domain=Domain.of({"a": 4})))
    assert np.allclose(twice.shares(("a",), {}), [0.125 / 3, 0.125 / 3, 0.875, 0.125 / 3])


def test_the_spread_is_that_of_two_draws_of_one_process():
    expected = np.array([30.0, 10.0, 0.0])
    sought = [30 * (1 - 30 / 40) * (1 + 40 / 10), 10 * (1 - 10 / 40) * (1 + 40 / 10), 0.0]
    assert np.allclose(of_public().spread(expected), sought, atol=1e-11)
    assert (of_public().spread(np.zeros(3)) == 1e-12).all()


def test_a_pair_has_the_dependence_of_the_public_table_at_the_margins_of_the_other():
    alone = np.outer([40.0, 30.0, 20.0, 10.0], [0.5, 0.3, 0.2])
    table = of_public().shares(("a", "b"), {})
    for _ in range(2000):
        table = table * (alone.sum(axis=1) / table.sum(axis=1))[:, None]
        table = table * (alone.sum(axis=0) / table.sum(axis=0))
    found = of_public().pair(("a", "b"), alone, {})
    assert np.allclose(found, table, rtol=1e-3)
    assert np.allclose(found.sum(axis=0), alone.sum(axis=0))
    assert np.allclose(of_public().pair(("a", "b"), alone, {}, 0.25), 0.75 * alone + 0.25 * found)
    assert (of_public().pair(("a", "b"), np.zeros((4, 3)), {}) == 0).all()


def test_scores_against_the_public_table_cost_what_the_others_cost_or_a_fiftieth():
    pairs = Cost(rho=0.5)
    assert RlsPrior.cost_of_scores(Cost(rho=0.005), pairs).rho == pytest.approx(0.005)
    assert RlsPrior.cost_of_scores(Cost(rho=0.2), pairs).rho == pytest.approx(0.01)
    assert RlsPrior.cost_of_scores(Cost(epsilon=0.01), Cost(epsilon=2.0)).epsilon == pytest.approx(0.01)


class View:
    """One-ways of two columns as released: each value by value and, of the first, in two coarse values."""

    def __init__(self, a, b, *, sigma, coarse=None, total=100.0):
        self.domain, self.total = DOMAIN, total
        self.one_ways, self.sigmas = [np.array(a, float), np.array(b, float)], [sigma, sigma]
        self.measured = {
            n: Measurement(attributes=(n,), values=v, sigma=sigma) for n, v in zip("ab", self.one_ways, strict=True)
        }
        halves = SimpleNamespace(recode=np.array([0, 0, 1, 1]), sigma=sigma / 2)
        halves.values = np.bincount(halves.recode, self.one_ways[0]) if coarse is None else np.array(coarse, float)
        self.coarse = {"a": [halves], "b": []}
        self.again = np.random.default_rng(5)

    def value_by_value(self, name):
        return [self.measured[name]]

    def one_way_again(self, place, rng):
        return self.one_ways[place] + rng.normal(0, self.sigmas[place], len(self.one_ways[place]))


def sums_apart(values, sigma):
    """Square distance of the first column from the public one in both its tables, its size, and the doubt."""
    expected = np.array([40.0, 30, 20, 10])
    far = size = doubt = 0.0
    for x, e, s in (
        (values, expected, sigma),
        (np.array([values[0] + values[1], values[2] + values[3]]), np.array([70.0, 30.0]), sigma / 2),
    ):
        apart = sum((x - e) ** 2) - len(x) * s**2
        far, size = far + apart, size + sum(x**2) - len(x) * s**2
        doubt += 2 * len(x) * s**4 + 4 * s**2 * max(apart, 0.0)
    return far, size, doubt


def border(sigma, within):
    """How far the first column may shift from the public one until a rule says no, by bisection."""
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if within(sums_apart(np.array([40.0, 30 - middle, 20, 10 + middle]), sigma))
            else (low, middle)
        )
    return low


@pytest.mark.parametrize("sigma", [0.5, 1.5, 2.5])
@pytest.mark.parametrize("beside", [-1e-3, 1e-3])
def test_a_column_counts_up_to_where_it_is_beyond_doubt_apart(sigma, beside):
    shift = border(sigma, lambda f: f[0] - 2 * math.sqrt(f[2]) <= 0.1 * f[1]) + beside
    view = View([40, 30 - shift, 20, 10 + shift], [3e3, 5e3, 2e3], sigma=sigma)  # both together pass by the second
    found = with_more_of_b(100).borne_out(view)
    assert found is not None
    assert found.names == ({"a", "b"} if beside < 0 else {"b"})


@pytest.mark.parametrize("sigma", [0.5, 1.0])
@pytest.mark.parametrize("beside", [-1e-3, 1e-3])
def test_all_columns_together_are_near_beyond_doubt_or_none_is_used(sigma, beside):
    b = np.array([3.0, 5.0, 2.0])
    apart = float(-3 * sigma**2)
    of_b = (apart, float((b**2).sum()) - 3 * sigma**2, 2 * 3 * sigma**4)

    def within(f):
        far, size, doubt = (x + y for x, y in zip(f, of_b, strict=True))
        return far + 2 * math.sqrt(doubt) <= 0.1 * size

    shift = border(sigma, within) + beside
    found = with_more_of_b(0.1).borne_out(View([40, 30 - shift, 20, 10 + shift], b, sigma=sigma))
    assert (found is not None) == (beside < 0)


def test_half_of_the_columns_are_enough_and_fewer_are_not():
    codes = np.vstack([CODES, CODES[:1]])
    three = PublicTable(codes=codes, domain=Domain.of({"a": 4, "b": 3, "c": 4}))
    good, bad = [40.0, 30, 20, 10], [10.0, 20, 30, 40]
    view = View(good, [20, 30, 50], sigma=0.5)
    assert of_public().borne_out(view).names == {"a"}
    view.domain, view.measured["c"], view.coarse["c"] = three.domain, view.measured["a"], []
    assert RlsPrior(three).borne_out(view).names == {"a", "c"}
    view.measured["c"] = Measurement(attributes=("c",), values=np.array(bad), sigma=0.5)
    assert RlsPrior(three).borne_out(view) is None


def test_one_ways_are_joined_with_the_public_table():
    """The square error of an estimate is the mean of four draws, half of its cell and half of all cells."""
    view, public = View([380, 330, 170, 120], [280, 510, 210], sigma=40.0, total=1000.0), of_public(200)
    rng = np.random.default_rng(0)
    doubts_ = []
    for i, n in enumerate("ab"):
        counts = view.one_ways[i]
        squares = np.mean([(view.one_way_again(i, rng) - counts) ** 2 for _ in range(4)], axis=0)
        expected = 1000 * public.shares((n,), {})
        tables = [(np.arange(len(counts)), counts, 40.0)]
        if n == "a":
            tables.append((np.array([0, 0, 1, 1]), view.coarse["a"][0].values, 20.0))
        doubts_.append(
            Doubt(estimate=counts, error=(squares + squares.mean()) / 2, expected=expected,
                  spread=public.spread(expected), tables=tuple(tables))
        )  # fmt: skip
    sought = put_together(doubts_)
    ones, sigmas = public.one_ways(view)
    for one, sigma, (values, kept) in zip(ones, sigmas, sought, strict=True):
        assert np.allclose(one, values, rtol=1e-6)
        assert sigma == pytest.approx(40.0 * kept, rel=1e-6)
    assert min(kept for _, kept in sought) < 1


def test_targets_are_measured_pairs_joined_with_the_public_table_and_pairs_that_it_alone_tells():
    domain = Domain.of({"a": 4, "b": 3, "c": 4})
    public = RlsPrior(PublicTable(codes=np.tile(np.vstack([CODES, CODES[:1]]), 200), domain=domain))
    rng = np.random.default_rng(3)
    measured = 100 * public.shares(("a", "b"), {}) + rng.normal(0, 6, (4, 3))
    whole = {n: Coarsening.identity(domain[n].size) for n in domain.names}
    joint = [Measurement(attributes=("a", "b"), values=measured, sigma=6.0)]
    alone = np.outer([0.3, 0.3, 0.2, 0.2], [40.0, 30, 20, 10])
    trust = {("a", "b"): SimpleNamespace(part=0.8, left=20.0, deviation=9.0),
             ("a", "c"): SimpleNamespace(part=0.6, left=12.0, deviation=9.0)}  # fmt: skip
    drawn = [measured + rng.normal(0, 6, (4, 3)) for _ in range(4)]
    left = list(drawn)
    view = SimpleNamespace(
        domain=domain, joint=joint, trust=trust, maps=lambda m: {n: whole[n] for n in m.attributes},
        recodes=lambda resolution: whole if resolution == 64 else None, product=lambda names, maps: alone,
        pairs_again=lambda tables, rng: [left.pop(0)],
    )  # fmt: skip
    ones = [
        Target(attributes=(i,), maps=(np.arange(s),), values=np.ones(s), sigma=1.0) for i, s in enumerate((4, 3, 4))
    ]
    place = (np.arange(4), np.arange(3))
    start = [*ones, Target(attributes=(0, 1), maps=place, values=measured * 2, sigma=12.0)]
    found = public.targets(view, start, 2.0)
    assert not left and found[:3] == ones and len(found) == 5

    expected = np.outer(np.maximum(measured, 0).sum(1), np.maximum(measured, 0).sum(0))
    expected = public.pair(("a", "b"), expected * measured.sum() / expected.sum(), {}, 0.8)
    spread = public.spread(expected)
    squares = np.mean([(d - measured) ** 2 for d in drawn], axis=0)
    likely = [
        -0.5 * ((math.sqrt(2 / math.pi) * sum(math.sqrt(v) for v in row) - 20) / 9) ** 2 for row in variances(spread)
    ]
    one = Doubt(estimate=measured, error=(squares + squares.mean()) / 2, expected=expected, spread=spread,
                tables=((np.arange(12), measured.ravel(), 6.0),), score=np.array(likely))  # fmt: skip
    ((values, kept),) = put_together([one])
    assert kept < 1
    assert np.allclose(found[3].values, values * 2, rtol=1e-6)
    assert found[3].sigma == 12.0 and found[3].attributes == (0, 1)
    assert found[4].attributes == (0, 2)
    assert np.allclose(found[4].values, 2 * public.pair(("a", "c"), alone, {}, 0.6))
    assert found[4].sigma == pytest.approx(2 * 12.0 / math.sqrt(2 / math.pi) / 16)


def test_scores_of_pairs_that_the_public_table_has_are_handed_on_and_others_stay_open(monkeypatch):
    public = of_public(200)
    alone = [np.outer([40.0, 30, 20, 10], [0.3, 0.5, 0.2]) * 20, np.ones((4, 4)), np.ones((3, 4))]
    pairs, maps = [("a", "b"), ("a", "c"), ("b", "c")], [{}, {}, {}]
    asked = {}

    def answered(counter, sets, expected, recodes, **more):
        asked.update(sets=sets, expected=expected, recodes=recodes, **more)
        return np.array([70.0]), 12.0

    monkeypatch.setattr(prior, "score_sets", answered)
    scores = np.array([1500.0, -3.0, 8.0])
    trust, left = public.scored(None, pairs, maps, alone, scores, 9.0, cost=Cost(rho=1.0), gate=None)
    expected = public.pair(("a", "b"), alone[0], {})
    assert asked["sets"] == [("a", "b")] and np.allclose(asked["expected"][0], expected)
    apart = np.array([np.abs(expected - alone[0]).sum()])
    sampling = np.array([math.sqrt(2 / math.pi) * np.sqrt(public.spread(expected)).sum()])
    sought = trusted(pairs[:1], scores[:1], [70.0], apart, sampling, (9.0, 12.0))
    assert list(trust) == [("a", "b")] == list(sought)
    assert (trust["a", "b"].part, trust["a", "b"].left) == pytest.approx(sought["a", "b"][:2])
    assert left.tolist() == pytest.approx([trust["a", "b"].left, 0.0, 8.0])
    few = [("a", "c")]
    assert public.scored(None, few, maps[:1], alone[1:2], scores[1:2], 9.0, cost=None, gate=None)[0] == {}
