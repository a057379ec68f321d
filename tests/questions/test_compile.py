"""What questions need measured, and what a schema suggests."""

import itertools
import math

import numpy as np
import pytest

from dpsyn_core.errors import QuestionError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.questions.compile import (
    DEFAULT_SHARE,
    PAIRS,
    PRECISE,
    Need,
    _covers,
    _joined,
    compile_questions,
    default_share,
    workload_of,
)
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.suggestions import templates
from dpsyn_core.schema.domain import Domain
from dpsyn_core.schema.sample import sample_schema
from tests.questions.small import schema
from tests.questions.test_document import ALL


def needs(*documents):
    listed = [{"name": str(i)} | d for i, d in enumerate(documents)]
    return compile_questions(Questions.of(listed).checked(schema()), schema())


def test_every_form_compiles_to_tables_of_its_columns():
    found = compile_questions(Questions.of(ALL).checked(schema()), schema())
    assert {n.attributes for n in found} >= {
        ("CITY", "SEX", "AGE"), ("CITY", "SEX", "PAY"), ("CITY", "PAY"), ("SEX", "AGE"), ("SEX", "PAY"),
    }  # fmt: skip
    assert sum(n.weight for n in found) == pytest.approx(len(ALL) + 1)
    for n in found:
        for name, recode in n.maps.items():
            assert sorted(set(recode.map.tolist())) == list(range(recode.size)), name
            assert len(recode.map) == schema()[name].size


def test_a_gap_needs_both_sides_and_one_cell_for_everybody_else():
    [need] = needs({"kind": "gap", "of": "PAY", "by": ["CITY"], "between": {"SEX": ["Female", "Male"]}})
    assert need.attributes == ("CITY", "SEX", "PAY")
    assert need.maps["SEX"].map.tolist() == [1, 0, 2]
    assert list(need.means) == ["PAY"] and need.whole == {"CITY"}


def test_equal_tables_are_measured_once_with_their_weights_together():
    [need] = needs(
        {"kind": "mean", "of": "PAY", "by": ["CITY"]}, {"kind": "gini", "of": "PAY", "by": ["CITY"], "weight": 2}
    )
    assert need.weight == 3 and need.questions == ("0", "1")


def test_a_prediction_needs_the_target_with_every_other_column():
    found = needs({"kind": "predict", "of": "SEX"})
    assert len(found) == 5
    assert all("SEX" in n.attributes and n.target == "SEX" for n in found)
    assert sum(n.weight for n in found) == pytest.approx(1)


def test_a_range_needs_what_is_in_what_is_out_and_the_bins_that_it_cuts():
    [need] = needs({"kind": "range", "where": "AGE in [5, 17] and CITY in {A, B}"})
    assert need.maps["CITY"].map.tolist() == [1, 1, 0]
    assert need.maps["AGE"].map.tolist() == [0, 1, 1, 2] + [0] * 16


def test_a_regression_is_one_table_where_that_is_small_and_pairs_otherwise():
    small = needs({"kind": "regression", "of": "PAY", "on": ["SEX", "CITY"]})
    assert [n.attributes for n in small] == [("CITY", "SEX", "PAY")]
    large = needs({"kind": "regression", "of": "PAY", "on": ["SEX", "CITY", "AGE", "KIDS"]})
    assert len(large) == 10 and all(len(n.attributes) == 2 for n in large)


def test_a_schema_suggests_questions_from_its_names():
    found = templates(sample_schema())
    assert [t.question.kind for t in found][:4] == ["gap", "mean", "quantile", "gini"]
    assert found[0].question.sides == ("SEX", ("Male", "Female"))
    Questions.of(
        [t.question.model_dump(by_alias=True, exclude_defaults=True) | {"kind": t.question.kind} for t in found]
    )
    kinds = [t.question.kind for t in templates(schema())]
    assert "gap" in kinds and "table" in kinds


def test_a_table_answers_for_smaller_ones_inside_it_unless_it_is_much_larger():
    gap = {"kind": "gap", "of": "PAY", "by": ["CITY"], "between": {"SEX": ["Male", "Female"]}}
    [need] = needs(gap, {"kind": "mean", "of": "PAY", "by": ["CITY"]})
    assert need.attributes == ("CITY", "SEX", "PAY") and need.weight == 2 and need.questions == ("0", "1")
    assert len(needs({"kind": "mean", "of": "PAY", "by": ["AGE"]}, {"kind": "mean", "of": "PAY"})) == 2
    assert len(needs(gap, {"kind": "table", "of": ["CITY", "SEX"]})) == 2  # its sides are not all values of SEX


def test_the_default_share_is_at_most_half_and_less_for_few_tables():
    assert default_share(20, 14) == 0.5
    assert default_share(1, 14) == pytest.approx(1 / (1 + 63 / 16))
    assert workload_of(None, schema()) is None
    asked = Questions.of([{"name": "m", "kind": "mean", "of": "PAY"}])
    assert workload_of(asked, schema(), 0) is None
    assert workload_of(asked, schema(), 0.7).share == 0.7
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(QuestionError, match="between 0 and 1"):
            workload_of(asked, schema(), wrong)


DOMAIN = Domain.of({"a": 6, "b": 4, "c": 5, "d": 2})
HALVES, FOURTHS = Coarsening.of([0, 0, 0, 1, 1, 1]), Coarsening.of([0, 0, 0, 1, 2, 2])
MEANS = {"a": np.arange(6.0)}


def need(names, maps=None, means=None, whole="", **more):
    return Need(attributes=tuple(names), weight=1.0, questions=("q",), maps=maps or {}, means=means or {},
                whole=frozenset(whole), **({"target": None, "model": False} | more))  # fmt: skip


@pytest.mark.parametrize(
    ("large", "small", "covers"),
    [
        (need("ab"), need("a"), True),  # four times as many cells
        (need("ac"), need("a"), False),  # five times
        (need("ab"), need("ab"), False),
        (need("ab"), need("c"), False),
        (need("abd"), need("b"), False),
        (need("bd"), need("b"), True),
        (need("ab"), need("a", maps={"a": HALVES}), False),
        (need("ab", whole="a"), need("a", maps={"a": HALVES}), True),
        (need("ab", maps={"a": FOURTHS}), need("a", maps={"a": HALVES}), True),
        (need("ab", maps={"a": HALVES}), need("a", maps={"a": FOURTHS}), False),
        (need("ab", maps={"a": HALVES}), need("a"), False),
        (need("ab", means=MEANS), need("a", means=MEANS), True),
        (need("ab", means=MEANS), need("b"), False),  # a is there for its mean alone
        (need("ab"), need("a", means=MEANS), False),
        (need("ab", means=MEANS), need("a"), False),
        (need("ab", whole="a"), need("a", whole="a"), True),
        (need("ab"), need("a", whole="a"), False),
        (need("ad", maps={"d": Coarsening.of([0, 0])}), need("a"), True),
    ],
)
def test_a_table_covers_a_smaller_one_that_it_tells_all_of(large, small, covers):
    assert _covers(large, small, DOMAIN) == covers


def test_needs_that_are_joined_keep_a_target_and_are_a_model_where_both_are():
    for first, second in itertools.product((None, "a"), repeat=2):
        for one, other in itertools.product((False, True), repeat=2):
            made = _joined(need("ab", target=first, model=one), need("b", target=second, model=other))
            assert (made.target, made.model) == (first or second, one and other)
            assert (made.weight, made.questions, made.attributes) == (2.0, ("q", "q"), ("a", "b"))


@pytest.mark.parametrize("tables", [1, 3, 40])
@pytest.mark.parametrize("attributes", [1, 2, 3, 9, 10, 200])
def test_the_share_of_questions_gives_their_tables_so_many_times_less_noise_than_pairs(tables, attributes):
    share = default_share(tables, attributes)
    pairs = max(1, min(PAIRS * attributes, attributes * (attributes - 1) // 2))
    assert 0 < share <= DEFAULT_SHARE
    times = math.sqrt((share / tables) / ((1 - share) / pairs))
    assert times == pytest.approx(PRECISE) or (share == DEFAULT_SHARE and times < PRECISE)
