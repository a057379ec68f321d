"""The search among many sets: how columns are put together, and which groups are looked into, written out once more."""

import itertools
import math

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.search import BLOCK, PARTS, Margins, search_sets
from dpsyn_core.measure.select import GRID
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain


class Quiet:
    def gaussian(self, sigma, size):
        return np.zeros(size, dtype=np.int64)

    geometric = gaussian


@pytest.mark.parametrize(
    ("sizes", "order", "runs"),
    [
        ((2, 64, 2), 2, ["ab", "c"]),  # two runs of 128 cells are one table of 2^14
        ((2, 65, 2), 2, ["a", "b", "c"]),  # one more does not fit
        ((200, 2, 2, 33), 2, ["a", "bc", "d"]),  # a run of one column may be as large as it is
        ((2, 2, 2, 2, 2, 2, 2, 2), 2, ["abcdefg", "h"]),
        ((5, 5, 2, 3), 3, ["ab", "cd"]),  # 25.4 cells a run
        ((5, 6, 2, 3), 3, ["a", "bc", "d"]),
    ],
)
def test_columns_are_put_together_as_far_as_tables_stay_within_their_limit(sizes, order, runs):
    assert BLOCK == 2**14
    domain = Domain.of(dict(zip("abcdefgh", sizes, strict=False)))
    margins = Margins(domain, domain.subsets(order), {})
    run = {name: i for i, names in enumerate(runs) for name in names}
    expected = {}
    for i, names in enumerate(margins.sets):
        key = tuple(sorted({run[n] for n in names}))
        expected.setdefault("".join(runs[k] for k in key), []).append(i)
    assert {"".join(t): held for t, held in zip(margins.tables, margins.held, strict=True)} == expected
    cells = [math.prod(domain[n].size for n in table) for table in margins.tables]
    assert margins.cells == cells and [math.prod(s) for s in margins.shapes] == cells
    assert margins.work == sum(c * len(h) for c, h in zip(cells, margins.held, strict=True))


def test_a_column_that_is_recoded_is_as_large_as_its_recoding():
    domain = Domain.of({"a": 200, "b": 64, "c": 2})
    halves = Coarsening.of([i // 100 for i in range(200)])
    assert Margins(domain, domain.subsets(2), {"a": halves}).shapes[0] == (2, 64)


def searched(scores, least, most):
    """Each group that shows a score is divided, the most promising first where answers are short."""
    found, asked, groups = {}, 0, [list(range(len(scores)))]
    while groups and asked < most:
        asked += len(groups)
        top = sorted((g for g in groups if max(scores[i] for i in g) > least), key=lambda g: -max(scores[i] for i in g))
        found |= {g[0]: scores[g[0]] for g in top if len(g) == 1}
        wide = [g for g in top if len(g) > 1][: max(0, most - asked) // PARTS]
        groups = []
        for g in sorted(wide):
            parts = min(PARTS, len(g))
            ends = [int(len(g) * k / parts) for k in range(parts + 1)]
            groups += [g[a:b] for a, b in itertools.pairwise(ends)]
    return found, asked


@pytest.mark.parametrize("count", [1, 2, 5, 16, 70])
@pytest.mark.parametrize("most", [1, 2, 4, 5, 9, 13, 100])
def test_groups_that_show_a_score_are_divided_until_answers_run_out(count, most):
    rng = np.random.default_rng(count * 100 + most)
    for least in (-math.inf, 20.0, 45.0, 60.0):
        scores = rng.permutation(np.arange(count) * 50 // max(1, count - 1)) if count > 1 else np.array([30])
        cost = Cost(rho=1.0)
        gate = Gate(account=Account(cost), noise=Quiet(), unit=Unit())
        found, asked = search_sets(
            lambda s=scores: (GRID * s).astype(np.int64), count, cost=cost.scaled(1e-3), least=least, most=most,
            gate=gate, name="largest",
        )  # fmt: skip
        assert (found, asked) == searched(scores.tolist(), least, most)
        assert asked == sum(c.cells for c in gate.account.charges)
        for charge in gate.account.charges:
            assert charge.rho == pytest.approx(1e-3 * charge.cells) and charge.kind == "scores"
            assert charge.sensitivity == pytest.approx(GRID * math.sqrt(charge.cells)) and charge.name == "largest"


def test_under_replace_an_individual_moves_each_answer_twice_as_far():
    gate = Gate(account=Account(Cost(rho=1.0)), noise=Quiet(), unit=Unit(neighbours="replace", max_records=3))
    search_sets(lambda: np.zeros(1, np.int64), 1, cost=Cost(rho=0.1), least=0.0, most=1, gate=gate, name="x")
    assert gate.account.charges[0].sensitivity == GRID * 6
