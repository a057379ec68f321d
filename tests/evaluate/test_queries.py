"""The query language, its answers, and the random-workload score."""

import math
import re

import numpy as np
import pytest

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.language import ask, parse
from dpsyn_core.evaluate.workload import Filter, RangeQueries, random_workload
from dpsyn_core.schema.domain import CodedAttribute, Domain
from tests.evaluate.tables import draw, small


def shop():
    domain = Domain((
        CodedAttribute(name="price", size=3, ordered=True, special=1),
        CodedAttribute(name="home town", size=3),
        CodedAttribute(name='odd "in" name', size=2),
    ))  # fmt: skip
    labels = {"home town": ["Lyon", "Paris, Texas", 'a "b"'], 'odd "in" name': ["yes", "no and no"]}
    real = np.array([[0, 1, 1, 2, 0], [0, 0, 1, 1, 2], [0, 1, 0, 1, 0]], np.uint8)
    prices = np.array([1.0, 7.0, 9.5, np.nan, 2.0])
    return Comparison(
        domain=domain, real=real, synthetic=real[:, 1:], real_values={"price": prices},
        synthetic_values={"price": prices[1:]}, labels=labels,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("price in [1, 7]", 3),
        ("price in [-inf, inf]", 4),
        ("price in [7,7] and home town in {Lyon}", 1),
        ('"home town" in {"Paris, Texas", Lyon}', 4),
        ('home town in {"a ""b""" }', 1),
        ('  price in[2,9.5] and "odd ""in"" name" in {yes}', 2),
        ('"odd ""in"" name" in {"no and no"} and home town in {Lyon, "Paris, Texas"}', 2),
    ],
)
def test_queries_are_read_and_counted(text, real):
    [answer] = ask(shop(), [parse(text, shop())])
    assert answer.real == real


def test_what_is_written_back_reads_to_the_same_query():
    c = shop()
    for query in random_workload(c.domain, 200, seed=0):
        assert parse(query.text(c), c) == parse(parse(query.text(c), c).text(c), c)
        assert ask(c, [parse(query.text(c), c)])[0].real == ask(c, [query])[0].real
    assert Filter(attribute="price", low=1, high=2.5).text() == "price in [1, 2.5]"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot be read from '' on"),
        ("price", "cannot be read from 'price'"),
        ("cost in [1, 2]", "names 'cost', which is not in the schema; known are price"),
        ("price in [2, 1]", "two numbers, the lower one first"),
        ("price in [1]", "two numbers"),
        ("price in [1, x]", "two numbers"),
        ("price in [nan, 3]", "two numbers"),
        ("price in [1, 2", "has no ']'"),
        ("price in [1, 2}", "has no ']'"),
        ("home town in [1, 2]", "'home town' has no order"),
        ("home town in {Rome}", "'Rome' is no value of 'home town'"),
        ("home town in {}", "has no '}'"),
        ("price in [1, 2] or price in [3, 4]", "cannot be read from 'or price"),
        ("price in [1, 2] and", "cannot be read from '' on"),
    ],
)
def test_what_is_no_query_is_one_sentence_that_says_where(text, words):
    with pytest.raises(MetricError, match=re.escape(words)):
        parse(text, shop())


def test_answers_scale_the_synthetic_count_to_the_real_table():
    [answer] = ask(shop(), [parse("home town in {Lyon}", shop())])
    assert (answer.real, answer.synthetic, answer.scaled, answer.error) == (2, 1, 1.25, -0.75)
    assert answer.relative == pytest.approx(-0.375)
    [nothing] = ask(shop(), [parse("price in [3, 4]", shop())])
    assert nothing.relative is None


@pytest.mark.slow
def test_a_random_workload_scores_nought_on_equal_tables_and_its_floor_on_fresh_samples():
    c = small(n=600, m=500, blur=0.4)
    same = Comparison(domain=c.domain, real=c.real, synthetic=c.real)
    assert RangeQueries().compute(same).value == 0
    blurred = RangeQueries(count=300).compute(c)
    assert 2 * blurred.floor < blurred.value < 1
    runs = []
    for seed in range(40):
        both = Comparison(domain=c.domain, real=draw(600, 2 * seed), synthetic=draw(200, 2 * seed + 1))
        runs.append(RangeQueries(count=300).compute(both))
    off = np.array([r.value - r.floor for r in runs])
    assert abs(off.mean()) < 5 * off.std(ddof=1) / math.sqrt(len(runs))


def test_the_worst_queries_are_reported_with_both_counts_and_can_be_asked_again():
    c = small(n=600, m=500, blur=0.4)
    for row in RangeQueries(count=100).compute(c).details["worst"]:
        [answer] = ask(c, [parse(row["query"], c)])
        assert (answer.real, answer.synthetic) == (row["real"], row["synthetic"])
        assert row["error"] == pytest.approx(row["synthetic"] / 500 - row["real"] / 600)


def test_workloads_are_blind_to_the_data():
    a = Comparison(domain=small().domain, real=draw(50, 1), synthetic=draw(50, 2))
    b = Comparison(domain=small().domain, real=draw(70, 8), synthetic=draw(30, 9))
    asked = [RangeQueries(count=20, seed=3).compute(c).details["worst"] for c in (a, b)]
    assert {r["query"] for r in asked[0]} & {r["query"] for r in asked[1]}
