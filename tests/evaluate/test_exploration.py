"""What a public table shows, against sums over all records, and at the ends of its limits."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.evaluate import exploration
from dpsyn_core.evaluate.exploration import Dependence, Interaction, explore, interactions, proposed_questions
from tests.schema.helpers import cat, num, schema

N = 400
RNG = np.random.default_rng(0)
A, B = RNG.integers(0, 3, N), RNG.integers(0, 4, N)
COLUMNS = {"a": A, "b": B, "c": (A + B) % 2, "d": np.where(RNG.random(N) < 0.5, A, RNG.integers(0, 5, N))}
SIZES = {"a": 3, "b": 4, "c": 2, "d": 5}


def explored(columns=None, sizes=None):
    sizes = SIZES if sizes is None else sizes
    known = schema(*(cat(n, list(range(size))) for n, size in sizes.items()))
    return explore(pa.table(COLUMNS if columns is None else columns), known, public=True)


def poisson_deviation(mean):
    """Mean absolute deviation: that of a normal one, or twice the mean where that is smaller."""
    return min(math.sqrt(2 * mean / math.pi), 2 * mean)


@pytest.mark.parametrize("batch", [1, 12, 20, 27, 10**6])
def test_pairs_are_how_far_they_are_from_independence_however_they_are_counted(monkeypatch, batch):
    monkeypatch.setattr(exploration, "BATCH_CELLS", batch)
    found = explored()
    by_pair = {d.pair: d for d in found.pairs}
    assert set(by_pair) == set(itertools.combinations(SIZES, 2)) and found.left_out == [] and found.n_records == N
    for (x, y), d in by_pair.items():
        gap = chance = 0.0
        for i, j in itertools.product(range(SIZES[x]), range(SIZES[y])):
            mean = (COLUMNS[x] == i).sum() * (COLUMNS[y] == j).sum() / N
            gap += abs(((COLUMNS[x] == i) & (COLUMNS[y] == j)).sum() - mean)
            chance += poisson_deviation(mean)
        assert (d.indif, d.by_chance, d.cells) == (
            pytest.approx(gap / 2 / N), pytest.approx(chance / 2 / N), SIZES[x] * SIZES[y],
        )  # fmt: skip
    assert [d.pair for d in found.pairs] == sorted(by_pair, key=lambda p: (-by_pair[p].excess, p))
    assert {n: t.tolist() for n, t in found.one_ways.items()} == {
        n: np.bincount(x, minlength=SIZES[n]).tolist() for n, x in COLUMNS.items()
    }


def test_pairs_of_too_many_cells_are_named_and_left_out(monkeypatch):
    monkeypatch.setattr(exploration, "MOST_PAIR_CELLS", 12)
    found = explored()
    assert set(found.left_out) == {("a", "d"), ("b", "d")}
    assert len(found.pairs) == 4


def test_an_excess_is_what_chance_does_not_explain_and_never_negative():
    assert Dependence(pair=("a", "b"), indif=0.3, by_chance=0.1, cells=4).excess == pytest.approx(0.2)
    assert Dependence(pair=("a", "b"), indif=0.1, by_chance=0.3, cells=4).excess == 0
    assert Interaction(triple=("a", "b", "c"), distance=0.3, by_chance=0.1).excess == pytest.approx(0.2)
    assert Interaction(triple=("a", "b", "c"), distance=0.1, by_chance=0.3).excess == 0


def test_interactions_are_the_distance_from_the_table_with_the_same_pairs():
    found = explored()
    by_triple = {i.triple: i for i in interactions(found)}
    assert set(by_triple) == set(itertools.combinations(SIZES, 3))
    for names, one in by_triple.items():
        shape = tuple(SIZES[n] for n in names)
        counts = np.zeros(shape)
        np.add.at(counts, tuple(COLUMNS[n] for n in names), 1)
        fitted = np.full(shape, N / math.prod(shape))
        for _ in range(200):
            for axis in range(3):
                now = fitted.sum(axis=axis, keepdims=True)
                fitted = fitted * np.where(now > 0, counts.sum(axis=axis, keepdims=True) / np.maximum(now, 1e-300), 0)
        assert one.distance == pytest.approx(np.abs(counts - fitted).sum() / 2 / N, abs=2e-3)
        free = math.prod(s - 1 for s in shape) / math.prod(shape)
        chance = sum(map(poisson_deviation, fitted.ravel())) * math.sqrt(free) / 2 / N
        assert one.by_chance == pytest.approx(chance, abs=2e-3)


def test_only_columns_that_are_tied_to_another_and_at_most_ten_are_looked_at_in_threes(monkeypatch):
    alone = COLUMNS | {"z": np.zeros(N, dtype=int), "e": np.arange(N) % 2}
    found = explored(alone, SIZES | {"z": 1, "e": 2})
    assert all("z" not in i.triple for i in interactions(found))
    monkeypatch.setattr(exploration, "LOOKED_AT", 3)
    [one] = interactions(explored())
    strength = {n: sum(d.excess for d in explored().pairs if n in d.pair) for n in SIZES}
    assert set(one.triple) == set(sorted(SIZES, key=lambda n: -strength[n])[:3])


@pytest.mark.parametrize(("most", "seen"), [(5, True), (4, False)])
def test_long_lists_without_order_are_not_looked_at(monkeypatch, most, seen):
    monkeypatch.setattr(exploration, "MOST_VALUES", most)
    assert any("d" in i.triple for i in interactions(explored())) == seen


@pytest.mark.parametrize("values", [12, 13, 40])
def test_a_column_in_order_is_seen_in_runs_of_about_as_many_records(values):
    """The run of a value is where the middle of its records stands, in twelfths; blank cells are a value beside it."""
    x = np.sort(np.minimum(RNG.geometric(0.08, 3000) - 1, values - 1))
    cells = pa.array([None if i % 50 == 0 else int(v) for i, v in enumerate(x)])
    known = schema(num("x", 0, values - 1, values, missing=True))
    found = explore(pa.table({"x": cells}), known, public=True)
    codes, size = exploration._coarse(found, "x")
    kept = np.array([v for v in cells.to_pylist() if v is not None])
    blank = np.array([v is None for v in cells.to_pylist()])
    if values <= 12:
        assert size == values + 1 and (codes[~blank] == kept).all()
        return
    assert size == 13 and (codes[blank] == 12).all()
    middle = [((kept < v).sum() + (kept == v).sum() / 2) / len(kept) for v in kept]
    assert codes[~blank].tolist() == [min(int(m * 12), 11) for m in middle]


def test_at_most_three_tables_are_proposed_each_far_from_what_its_pairs_say(monkeypatch):
    shown = [
        Interaction(triple=t, distance=d, by_chance=0.0)
        for t, d in ((("a", "b", "c"), 0.5), (("a", "b", "d"), 0.4), (("a", "c", "d"), 0.02), (("b", "c", "d"), 0.019))
    ]
    monkeypatch.setattr(exploration, "interactions", lambda found: shown)

    def asked():
        return [q.name for q in proposed_questions(explored()).questions if q.kind == "table" and len(q.of) == 3]

    assert asked() == ["a x b x c", "a x b x d", "a x c x d"]
    shown[3] = Interaction(triple=("b", "c", "d"), distance=0.02, by_chance=0.0)
    assert asked() == ["a x b x c", "a x b x d", "a x c x d"]
    shown[2] = Interaction(triple=("a", "c", "d"), distance=0.019, by_chance=0.0)
    assert asked() == ["a x b x c", "a x b x d"], "what follows in their order is weaker still"


def test_a_long_column_in_order_is_asked_for_in_bins(monkeypatch):
    monkeypatch.setattr(
        exploration, "interactions", lambda found: [Interaction(triple=("x", "y", "b"), distance=0.5, by_chance=0.0)]
    )
    known = schema(num("x", 0, 12, 13), num("y", 0, 11, 12), cat("b", [0, 1]))
    table = pa.table({"x": np.arange(N) % 13, "y": np.arange(N) % 12, "b": np.arange(N) % 2})
    [question] = [q for q in proposed_questions(explore(table, known, public=True)).questions if q.name == "x x y x b"]
    assert question.model_dump(mode="json", exclude_none=True)["bins"] == {"x": {"count": 12}}
