"""Group variance: intraclass correlations are those of an analysis of variance, and lost or new ones are found."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.evaluate import Roles, asked_groups, compare_tables, group_variances, uses, verdict
from dpsyn_core.evaluate.findings.variances import GroupVariance, _variance, intraclass
from dpsyn_core.report.document import ScoredTable, table_entry
from dpsyn_core.report.html import html_report
from dpsyn_core.schema import Schema

N = 2400
SCHOOLS = [f"S{k:02d}" for k in range(24)]


def pupils(seed, apart=15.0):
    rng = np.random.default_rng(seed)
    school = rng.integers(0, 24, N)
    score = 500 + apart * np.random.default_rng(0).normal(0, 1, 24)[school] + rng.normal(0, 37, N)
    sex = rng.choice(["f", "m"], N)
    return pd.DataFrame({"school": np.array(SCHOOLS)[school], "sex": sex, "score": score.round().astype(int)})


def compared(made, real, **roles):
    schema = Schema.of({"version": 1, "name": "pupils", "attributes": [
        {"name": "school", "kind": "categorical", "values": SCHOOLS},
        {"name": "sex", "kind": "categorical", "values": ["f", "m"]},
        {"name": "score", "kind": "numeric", "dtype": "integer", "min": 200, "max": 800},
    ]})  # fmt: skip
    sides = [pa.Table.from_pandas(x, preserve_index=False) for x in (made, real)]
    return compare_tables(schema, *sides, roles=Roles(**roles))


def test_an_intraclass_correlation_is_that_of_an_analysis_of_variance_of_equal_groups():
    rng = np.random.default_rng(1)
    groups, size = 12, 30
    values = rng.normal(0, 2, groups)[:, None] + rng.normal(0, 3, (groups, size))
    between = size * values.mean(axis=1).var(ddof=1)
    within = values.var(axis=1, ddof=1).mean()
    got = intraclass(values.ravel(), np.repeat(np.arange(groups), size))
    assert got == pytest.approx((between - within) / (between + (size - 1) * within))


def test_groups_that_say_nothing_have_none_however_many_they_are():
    rng = np.random.default_rng(2)
    got = [intraclass(rng.normal(0, 1, 900), rng.integers(0, 300, 900)) for _ in range(40)]
    assert np.mean(got) < 0.03  # a correlation ratio would be a third


@pytest.mark.parametrize(("real", "made", "moved"), [(15, 15, False), (15, 0, True), (0, 15, True)])
def test_variance_between_schools_that_is_lost_or_new_is_a_finding(real, made, moved):
    c = compared(pupils(3, made), pupils(1, real))
    (shown,) = group_variances(c)
    listed = [f for f in verdict(c).findings if f.key in ("group_variance", "more_variance")]
    assert (shown.column, shown.by, shown.groups, shown.moved) == ("score", "school", 24, moved)
    assert [f.columns for f in listed] == [("score", "school")] * moved
    low, high = shown.fresh
    assert low <= shown.real <= high and (low <= shown.synthetic <= high) == (not moved)
    if moved:
        assert listed[0].key == ("more_variance" if made else "group_variance")
        assert listed[0].real == shown.real and listed[0].synthetic == shown.synthetic
        assert ("gaps", ("score", "school")) in uses(c).bad
        assert not [f for f in verdict(c).findings if f.key == "ratio" and set(f.columns) == {"score", "school"}]


def test_what_a_question_declares_is_shown_first_though_its_groups_are_few():
    document = {"questions": [{"name": "by sex", "kind": "mean", "of": "score", "by": ["sex"]}, {"of": ["sex"]}]}
    asked = asked_groups(document, None)
    assert asked == (("score", "sex"),)
    assert [v.by for v in group_variances(compared(pupils(2), pupils(1), asked=asked))] == ["sex", "school"]


@pytest.mark.parametrize(("language", "word"), [("en", "of the variance of score"), ("de", "der Varianz von score")])
def test_both_reports_have_the_shares_of_both_tables_and_of_a_fresh_sample(language, word):
    c = compared(pupils(2, 0), pupils(1))
    table = ScoredTable(name="made", comparison=c, scores={})
    assert word in html_report("pupils", [table], language=language)
    (entry,) = json.loads(json.dumps(table_entry(table)))["group_variances"]
    (shown,) = group_variances(c)
    assert entry["fresh"] == list(shown.fresh) and entry["real"] == shown.real and entry["moved"] is True


def test_a_number_whose_groups_lie_farther_apart_has_not_first_of_all_lost_its_relations():
    c = compared(pupils(2, 60), pupils(1))
    keys = [f.key for f in verdict(c).findings if "score" in f.columns]
    assert keys[0] == "more_variance"


@pytest.mark.parametrize("seed", range(4))
def test_the_intraclass_correlation_is_that_of_one_way_analysis_of_variance(seed):
    rng = np.random.default_rng(seed)
    at = rng.integers(0, 9, 200)
    at[:9] = np.arange(9)
    values = rng.normal(size=200) + rng.normal(size=9)[at] * (seed / 2)
    groups = [values[at == k] for k in range(9)]
    within = sum(((g - g.mean()) ** 2).sum() for g in groups) / (200 - 9)
    between = sum(len(g) * (g.mean() - values.mean()) ** 2 for g in groups) / 8
    size = (200 - sum(len(g) ** 2 for g in groups) / 200) / 8
    apart = max(0.0, (between - within) / size)
    assert intraclass(values, at) == pytest.approx(apart / (apart + within))


def test_groups_need_thirty_records_more_than_there_are_of_them():
    at = np.append(np.arange(9), np.zeros(30, dtype=int))
    assert intraclass(np.arange(39.0), at) is not None and intraclass(np.arange(38.0), at[:38]) is None
    assert intraclass(np.arange(99.0), np.zeros(99, dtype=int)) is None
    assert intraclass(np.ones(99), np.arange(99) % 2) is None, "nothing varies"
    assert intraclass(np.arange(100) % 2 * 1.0, np.arange(100) % 2) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("real", "synthetic", "gap", "far", "moved"),
    [
        (0.4, 0.19, 0.01, True, True), (0.4, 0.2, 0.01, True, False), (0.19, 0.4, 0.01, True, True),
        (0.4, 0.1, 0.3 / 4.49, False, False), (0.4, 0.1, 0.3 / 4.51, True, True), (0.03, 0.011, 0.0, False, False),
        (0.03, 0.0099, 0.0, True, True),
    ],
)  # fmt: skip
def test_a_share_between_groups_moved_where_less_than_half_is_left_beyond_chance(real, synthetic, gap, far, moved):
    v = GroupVariance(column="y", by="g", groups=9, real=real, synthetic=synthetic, error=0.05, gap_error=gap)
    assert (v.far, v.moved) == (far, moved)
    assert v.fresh == (pytest.approx(max(0.0, real - 0.098)), pytest.approx(real + 0.098))


def test_the_variance_of_a_share_grows_with_groups_and_heavy_tails():
    flat, heavy = np.tile([-1.0, 1.0], 50), np.append(np.zeros(99), 10.0)
    assert _variance(0.25, flat, 8) == pytest.approx(4 * 0.25 * 0.75**2 + 2 * 8 / 100)
    tails = float(np.mean(((heavy - heavy.mean()) / heavy.std()) ** 4)) - 3
    assert _variance(0.25, heavy, 8) == pytest.approx(4 * 0.25 * 0.75**2 + 0.16 + 0.0625 * tails) and tails > 90
    assert _variance(0.0, np.ones(100), 2) == pytest.approx(0.04)
