"""Tables that are alike lose noise to their mean; tables that differ stay as they were released."""

from itertools import combinations

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.rls import evidence
from dpsyn_core.systems.rls.alike_tables import alike_one_ways, place, without_noise_of_alike
from tests.systems.rls.test_hierarchies import run

N, WAVES = 4_000.0, 8
DOMAIN = Domain.of({"sex": 2, **{f"w{i}": 4 for i in range(WAVES)}})
ONES = {n: np.full(k, N / k) for n, k in zip(DOMAIN.names, DOMAIN.sizes, strict=True)}


def maps(m):
    return {n: m.recodes.get(n) or Coarsening.identity(DOMAIN[n].size) for n in m.attributes}


def product(names, recodes):
    first, second = (recodes[n].sum(ONES[n]) for n in names)
    return np.outer(first, second) / N


def stays(strength, sign=1):
    """A table of two waves in which so many of the records stay where they are, or move to the next value."""
    same = np.roll(np.eye(4), 0 if sign > 0 else 1, axis=1)
    return N * (strength * same / 4 + (1 - strength) / 16)


def measured(tables, sigma=30.0, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Measurement(attributes=names, values=t + rng.normal(0, sigma, t.shape), sigma=sigma)
        for names, t in tables.items()
    ]


def off(tables, true):
    return np.sqrt(np.mean([np.square(m.values - true[m.attributes]).mean() for m in tables]))


def cleaned(tables):
    return without_noise_of_alike(tables, DOMAIN, maps=maps, product=product)


def test_alike_tables_have_the_noise_of_their_mean():
    true = {(f"w{a}", f"w{b}"): stays(0.5) for a, b in combinations(range(WAVES), 2)}
    tables = measured(true)
    found = cleaned(tables)
    assert off(tables, true) == pytest.approx(30, rel=0.1)
    assert off(found, true) < 10
    assert all(m.sigma < 10 for m in found)
    assert [m.attributes for m in found] == list(true)


def test_neighbouring_waves_are_alike_where_all_pairs_are_not():
    true = {(f"w{a}", f"w{b}"): stays(0.9 ** (b - a)) for a, b in combinations(range(WAVES), 2)}
    found = cleaned(measured(true))
    near = [m for m in found if int(m.attributes[1][1:]) - int(m.attributes[0][1:]) == 1]
    assert off(near, true) < 18
    assert off(found, true) < 22
    assert max(m.sigma for m in near) < 20
    far = [m for m in found if m.attributes in (("w0", "w7"), ("w0", "w6"), ("w1", "w7"))]  # one, and two of a kind
    before = {m.attributes: m for m in measured(true)}
    assert all(np.array_equal(m.values, before[m.attributes].values) and m.sigma == 30 for m in far)


@pytest.mark.parametrize(
    "names",
    [
        [("w0", "w1"), ("w2", "w3")],  # two
        [("w0", "w1"), ("w2", "w3"), ("w4", "w5"), ("w6", "w7")],  # that differ
        [("sex", "w0"), ("w1", "w2"), ("w3", "w4")],  # of other columns
    ],
)
def test_few_tables_and_those_that_differ_stay_as_they_are(names):
    true = {p: stays(0.6, 1 if i % 2 else -1)[: DOMAIN[p[0]].size] for i, p in enumerate(names)}
    tables = measured(true)
    assert all(one is other for one, other in zip(cleaned(tables), tables, strict=True))


def test_tables_of_other_coarse_values_are_not_alike():
    recode = Coarsening.of(np.array([0, 0, 1, 1]))
    true = {("w0", "w1"): stays(0.5), ("w2", "w3"): stays(0.5), ("w4", "w5"): stays(0.5)}
    *two, third = measured(true)
    values = third.values.reshape(2, 2, 4).sum(axis=1)
    coarse = Measurement(attributes=third.attributes, values=values, sigma=30.0, recodes={"w4": recode})
    assert cleaned([*two, coarse]) == [*two, coarse]
    assert all(m.sigma < 30 for m in cleaned([*two, third]))


def test_each_keeps_its_own_margins(monkeypatch):
    """Half the waves have many of the first value: the dependence is that of all, at what each wave has."""
    odd = np.array([0.55, 0.15, 0.15, 0.15]) * N
    monkeypatch.setitem(ONES, "w1", odd)
    monkeypatch.setitem(ONES, "w3", odd)
    pairs = [("w0", "w1"), ("w2", "w3"), ("w4", "w5"), ("w6", "w7")]
    true = {p: 0.5 * product(p, maps(Measurement(attributes=p, values=ONES["w0"], sigma=1.0))) for p in pairs}
    for p in pairs:
        true[p] += 0.5 * np.diag(ONES[p[1]])
    found = cleaned(measured(true, sigma=20.0))
    for m in found:
        if m.sigma < 20:
            assert m.values.sum(axis=0) == pytest.approx(ONES[m.attributes[1]], abs=120)


def counts(rows, sigma=20.0, seed=0):
    rng = np.random.default_rng(seed)
    names = [n for n in DOMAIN.names if n != "sex"][: len(rows)]
    out = {"sex": Measurement(attributes=("sex",), values=np.array([2_100.0, 1_900]), sigma=5.0)}
    for n, row in zip(names, rows, strict=True):
        values = np.array(row, dtype=float) + rng.normal(0, sigma, len(row))
        out[n] = Measurement(attributes=(n,), values=values, sigma=sigma)
    return out


def test_counts_of_alike_columns_have_the_noise_of_their_mean():
    given = counts([[1_000, 1_500, 500, 1_000]] * WAVES)
    found = alike_one_ways(given, DOMAIN)
    assert found["sex"] is given["sex"]
    others = [found[n] for n in DOMAIN.names[1:]]
    assert max(np.abs(m.values - [1_000, 1_500, 500, 1_000]).max() for m in others) < 35
    assert all(m.sigma < 15 for m in others)
    assert max(np.abs(given[n].values - [1_000, 1_500, 500, 1_000]).max() for n in DOMAIN.names[1:]) > 40


def test_one_item_that_stands_out_keeps_its_counts_and_the_others_gain():
    given = counts([[1_000, 1_500, 500, 1_000]] * (WAVES - 1) + [[1_000, 1_360, 640, 1_000]])
    found = alike_one_ways(given, DOMAIN)
    assert found["w7"] is given["w7"]
    assert all(found[f"w{i}"].sigma < 15 for i in range(WAVES - 1))


def test_counts_that_differ_stay_and_so_do_those_of_two_columns():
    rows = [[1_000 + 60 * i, 1_500, 500 - 60 * i, 1_000] for i in range(WAVES)]
    for given in (counts(rows), counts([[1_000, 1_500, 500, 1_000]] * 2)):
        assert alike_one_ways(given, DOMAIN) == given


@pytest.mark.parametrize(
    ("name", "where"),
    [("w3", 3), ("q12_a", 12), ("Q4b", 98), ("wave2_income", 2), ("age", None), ("2021", 2021), ("q2c3", 3)],
)
def test_items_stand_in_the_order_of_their_numbers_or_letters(name, where):
    assert place(name) == where


def test_a_panel_is_nearer_with_it(monkeypatch):
    """States of eight waves that change alike from each to the next; the same releases, fitted with and without."""
    rng = np.random.default_rng(0)
    waves = [rng.integers(0, 4, 4_000)]
    for _ in range(WAVES - 1):
        waves.append(np.where(rng.random(4_000) < 0.8, waves[-1], rng.integers(0, 4, 4_000)))
    codes = np.stack([rng.integers(0, 2, 4_000), *waves]).astype(np.uint8)

    def table(records, a, b):
        return np.bincount(records[a] * 4 + records[b], minlength=16)

    def distance(system, released):
        made = system.synthesize(released, 4_000, rng=np.random.default_rng(1)).astype(int)
        pairs = list(combinations(range(1, WAVES + 1), 2))
        return np.mean([np.abs(table(made, a, b) - table(codes.astype(int), a, b)).sum() / 8_000 for a, b in pairs])

    system, released, _ = run(codes, DOMAIN, epsilon=1.0)
    near = distance(system, released)
    monkeypatch.setattr(evidence, "without_noise_of_alike", lambda tables, *given, **more: list(tables))
    monkeypatch.setattr(evidence, "alike_one_ways", lambda counts, domain: counts)
    assert near < 0.85 * distance(system, released)


def test_tables_of_columns_that_are_not_fitted_stay():
    """Of linked tables some columns are fitted at a time, and tables with others are left alone."""
    true = {("w0", "w1"): stays(0.5), ("w2", "w3"): stays(0.5), ("w4", "w9"): stays(0.5)}
    tables = measured(true)
    assert all(one is other for one, other in zip(cleaned(tables), tables, strict=True))
    given = counts([[1_000, 1_500, 500, 1_000]] * 3)
    given["w9"] = Measurement(attributes=("w9",), values=given["w0"].values, sigma=20.0)
    assert alike_one_ways(given, DOMAIN)["w9"] is given["w9"]
