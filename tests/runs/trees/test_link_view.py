"""Two tables of a link side by side: against counts of the records themselves."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import MetricError
from dpsyn_core.runs.trees.comparison import compare_links
from dpsyn_core.runs.trees.link_view import LinkViews
from tests.runs.trees.small import SCHEMAS, tables

SCOPE = "roots > kids"


def once(given):
    """The tables with one child of each role at most, so that no limit leaves one out."""
    rows = {(row["root"], row["r"]): row for row in given["kids"].to_pylist()}
    return given | {"kids": pa.Table.from_pylist(list(rows.values()))}


@pytest.mark.parametrize("kind", ["plain", "roles"])
def test_numbers_of_children_and_pairs_across_a_link_are_those_of_the_records(kind):
    real, made = once(tables(200, 2, seed=3)), once(tables(150, 2, seed=4))
    views = LinkViews.of(SCHEMAS[kind], made, real)
    sizes, pair = views.children(SCOPE, "kids"), views.pair(SCOPE, ("a", "t"))
    for given, codes, rows in ((real, sizes.real, pair.real), (made, sizes.synthetic, pair.synthetic)):
        of = Counter(given["kids"]["root"].to_pylist())
        assert Counter(codes[0].tolist()) == Counter(of[root] for root in given["roots"]["id"].to_pylist())
        value = dict(zip(given["roots"]["id"].to_pylist(), given["roots"]["a"].to_pylist(), strict=True))
        listed = [(value[row["root"]], row["t"]) for row in given["kids"].to_pylist()]
        labels = [pair.labels[name] for name in ("roots.a", "kids.t")]
        assert Counter((labels[0][a], labels[1][t]) for a, t in rows.T) == Counter(listed)


def test_the_distance_of_numbers_of_children_is_the_score_of_the_link():
    real, made = tables(200, 3, seed=3), tables(150, 2, seed=4)
    c = LinkViews.of(SCHEMAS["plain"], made, real).children(SCOPE, "kids")
    p, q = (np.bincount(x[0], minlength=c.domain["kids"].size) / x.shape[1] for x in (c.real, c.synthetic))
    score = next(s for s in compare_links(SCHEMAS["plain"], made, real) if s.metric == "children")
    assert np.abs(p - q).sum() / 2 == pytest.approx(score.value)


def test_without_a_child_there_is_no_pair_to_look_at():
    real = tables(20, 2, seed=3)
    views = LinkViews.of(SCHEMAS["plain"], real | {"kids": real["kids"].slice(0, 0)}, real)
    with pytest.raises(MetricError, match="no records"):
        views.pair(SCOPE, ("a", "t"))
