"""Linked records: what their tables count, and the error that a fit ends with, against plain loops over records."""

import numpy as np
import pytest

from dpsyn_core.estimate.records import linked_kernel
from dpsyn_core.estimate.records.linked import LinkedAxis, LinkedTarget, fit_linked, laid_out
from dpsyn_core.estimate.records.linked_records import LinkedRecords
from dpsyn_core.estimate.records.rls.fit import Pace

SIZES = (3, 2, 4, 3)  # two columns of parents stand, two of children move


def records(ordered, *, parents=60, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 6, parents)
    n = int(counts.sum())
    first = np.append(0, np.cumsum(counts)[:-1])
    coupling = np.full(n, 0.5, dtype=np.float32)
    coupling[first] = 0
    rows = np.column_stack([rng.integers(0, s, n) for s in SIZES]).astype(np.uint16)
    weight = rng.choice([1.0, 0.5], parents).astype(np.float32)
    return LinkedRecords(rows, 2, np.repeat(weight, counts), coupling, ordered)


def targets(seed=1):
    """Tables with every kind of axis, the coupled ones first."""
    rng = np.random.default_rng(seed)

    def table(*axes, sigma):
        shape = tuple(int(a.map.max()) + 1 for a in axes)
        return LinkedTarget(axes=axes, values=rng.uniform(0, 40, shape), sigma=sigma)

    def whole(c):
        return LinkedAxis(map=np.arange(SIZES[c]), column=c)

    halves = LinkedAxis(map=np.array([0, 0, 1, 1]), column=2)
    with_parent = LinkedAxis(map=np.array([[0, 1, 2, 0], [1, 1, 2, 3]]), column=2, other=1)
    same_as_before = LinkedAxis(map=np.eye(4, dtype=int), column=2, before=2)
    before_alone = LinkedAxis(map=np.array([0, 1, 1]), before=3)
    return [
        table(same_as_before, sigma=2.0),
        table(whole(3), before_alone, sigma=3.0),
        table(whole(2), sigma=1.5),
        table(halves, whole(3), sigma=2.5),
        table(whole(0), with_parent, sigma=4.0),
    ]


def along(axis, row, before):
    at = [before[axis.before]] if axis.before is not None else [row[axis.other]] if axis.other is not None else []
    at += [row[axis.column]] if axis.column is not None else []
    return axis.map[tuple(at)]


def counted(target, given):
    out = np.zeros(target.values.shape)
    lags = 1 if given.ordered else 6
    for k, row in enumerate(given.rows):
        if not target.coupled:
            out[tuple(along(a, row, None) for a in target.axes)] += given.weight[k]
            continue
        for back in range(1, lags + 1):
            if given.coupling[k - back + 1] == 0:
                break
            out[tuple(along(a, row, given.rows[k - back]) for a in target.axes)] += given.coupling[k]
    return out


def error(tables, given):
    return sum((((counted(t, given) - t.values) / t.sigma) ** 2).sum() for t in tables)


@pytest.mark.parametrize("ordered", [True, False])
def test_tables_count_what_plain_loops_count(ordered):
    given, tables = records(ordered), targets()
    layout, goal, weights = laid_out(tables, given.first_own, 4)
    order = [*tables[2:], *tables[:2]]  # those of one record come first
    assert goal.tolist() == np.concatenate([t.values.ravel() for t in order]).tolist()
    assert np.allclose(weights, np.concatenate([np.full(t.values.size, 1 / t.sigma**2) for t in order]))
    assert layout.first_coupled == 3
    assert np.allclose(layout.weights, [1 / t.sigma**2 for t in order])
    sums = np.zeros(goal.size)
    linked_kernel.add_weights(given, given.lags, sums, layout)
    assert np.allclose(sums, np.concatenate([counted(t, given).ravel() for t in order]))


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("shards", [1, 2])
def test_the_error_of_a_fit_is_that_of_its_records_and_falls(ordered, shards):
    given, tables = records(ordered), targets()
    for t in tables:
        t.values[:] = counted(t, records(ordered, seed=5))
    before, standing = error(tables, given), given.rows[:, :2].copy()
    odds = [np.array([1.0, 2, 3, 4]), np.ones(3)]
    steps = []
    found = fit_linked(
        given, tables, odds, pace=Pace(temperatures=(1.0, 0.1, 0.0, 0.0, 0.0), repeats=4, shards=shards),
        rng=np.random.default_rng(3), progress=lambda *step: steps.append(step),
    )  # fmt: skip
    assert found == pytest.approx(error(tables, given), rel=1e-4)
    assert found < (0.3 if shards == 1 else 0.5) * before
    if ordered:
        assert (given.rows[:, :2] == standing).all()
    rounds = 5 if ordered else 20
    assert [s[:3] for s in steps] == [("fitting records", i + 1, rounds) for i in range(rounds)]
    assert steps[-1][3] == found


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("repeats", [1, 3, 9])
def test_siblings_without_an_order_are_mixed_four_times_in_a_sweep_and_never_hotter_than_usual(
    ordered, repeats, monkeypatch
):
    given, moves = records(ordered), []
    monkeypatch.setattr(
        linked_kernel, "move_linked", lambda part, lags, own, layout, odds, cold, heat, times, state: moves.append(
            (len(part.rows), lags, float(heat), times)
        ),
    )  # fmt: skip
    rows = given.rows.copy()
    odds = [np.ones(4), np.ones(3)]
    fit_linked(
        given, targets(), odds, pace=Pace(temperatures=(20.0, 0.5), repeats=repeats), rng=np.random.default_rng(1)
    )
    n, times = len(rows), 1 if ordered else min(4, repeats)
    heats = [20.0 if ordered else 3.0] * times + [0.5] * times
    assert moves == [(n, 1 if ordered else 6, heat, repeats // times) for heat in heats]
    assert (given.rows == rows).all() == ordered
    parents = np.cumsum(given.coupling == 0)
    order = [np.lexsort((*r.T[::-1], parents)) for r in (rows, given.rows)]
    assert (rows[order[0]] == given.rows[order[1]]).all()


def test_threads_take_whole_families_and_about_equally_many_records(monkeypatch):
    given, parts = records(ordered=True, parents=400), []

    def move(part, lags, own, *_):
        parts.append((len(part.rows), part.coupling[0], own.copy()))

    monkeypatch.setattr(linked_kernel, "move_linked", move)
    odds = [np.ones(4), np.ones(3)]
    pace = Pace(temperatures=(0.0, 0.0, 0.0), repeats=2, shards=2)
    fit_linked(given, targets(), odds, pace=pace, rng=np.random.default_rng(1))
    n = len(given.rows)
    assert [p[0] for p in parts[2:]] == [n, n]  # the last two sweeps are of one thread
    assert sum(p[0] for p in parts[:2]) == n and all(abs(p[0] - n / 2) < 6 and p[1] == 0 for p in parts[:2])
    assert np.allclose(parts[0][2] + parts[1][2], parts[2][2], rtol=1e-4)
    assert np.allclose(parts[0][2], parts[1][2])
