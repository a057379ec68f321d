"""Train on synthetic, test on real: against scikit-learn by hand, and at the edges."""

import dataclasses
import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison, Roles
from dpsyn_core.evaluate.learning import Encoder, Learning, _keep_rare_classes, classification, classifier, regressor
from dpsyn_core.schema.domain import CodedAttribute, Domain
from tests.evaluate.tables import draw, small

LR = Learning(which=("logistic",))
SEX = Roles(target="sex")


def test_a_good_synthetic_table_reaches_the_ceiling_and_noise_does_not():
    c = small(n=2000, m=2000, blur=0.0, roles=SEX)
    good = LR.compute(c)
    assert good.details["ceiling"] > 0.7
    assert good.value > good.details["ceiling"] - 0.03
    rng = np.random.default_rng(0)
    noise = np.stack([rng.permutation(x) for x in c.synthetic])
    assert abs(LR.compute(dataclasses.replace(c, synthetic=noise)).value - 0.5) < 0.15


def test_scores_equal_scikit_learn_on_the_held_out_table():
    c = small(n=500, m=400, roles=SEX, held_out=draw(300, 9))
    score = LR.compute(c)
    encode = Encoder.fit(c, ["age", "city", "job", "pay"])
    x, y = encode(c.synthetic, {}, np.arange(400)), c.synthetic[1]
    p = LogisticRegression(max_iter=300).fit(x, y).predict_proba(encode(c.held_out, {}, np.arange(300)))
    rare = int((c.held_out[1] == 1).sum() < 150)
    got = score.details["train_synthetic"]["logistic"]
    assert got["auroc"] == pytest.approx(roc_auc_score(c.held_out[1] == rare, p[:, rare]), abs=1e-6)
    assert got["auprc"] == pytest.approx(average_precision_score(c.held_out[1] == rare, p[:, rare]), abs=1e-6)
    assert score.details["held_out"]
    assert (score.details["trained_on"], score.details["tested_on"]) == (500, 300)
    assert "open to the synthesizer" not in score.sentence
    assert "open to the synthesizer" in LR.compute(dataclasses.replace(c, held_out=None)).sentence


def test_features_standardise_numbers_and_show_missing_ones():
    domain = Domain((CodedAttribute(name="x", size=4, ordered=True, special=1), CodedAttribute(name="y", size=3)))
    codes = np.array([[0, 2, 3, 1], [0, 1, 2, 1]], np.uint8)
    values = {"x": np.array([10.0, 30.0, np.nan, 20.0])}
    c = Comparison(domain=domain, real=codes, synthetic=codes, real_values=values, synthetic_values=values,
                   bounds={"x": (0, 40)})  # fmt: skip
    got = Encoder.fit(c, ["x", "y"])(codes, values, np.arange(4))
    scale = np.std([10, 20, 30])
    want = [[-10 / scale, 0, 1, 0, 0], [10 / scale, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 0, 1, 0]]
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_a_class_absent_from_training_and_a_training_table_of_one_class_have_documented_values():
    x = np.array([[0.0], [1], [2], [3], [4], [5]])
    y = np.array([0, 0, 1, 1, 2, 2])
    some = classification(classifier("logistic", 0), x[:4], y[:4], x, y)
    assert 0 <= some["auroc"] <= 1
    one = classification(classifier("logistic", 0), x[:2], y[:2], x[:4], y[:4])
    assert one == {"auroc": 0.5, "auprc": 0.5, "accuracy": 0.5, "f1": pytest.approx(2 / 3)}


def test_a_numeric_target_is_a_regression():
    domain = Domain(
        (CodedAttribute(name="x", size=30, ordered=True), CodedAttribute(name="income", size=40, ordered=True))
    )
    rng = np.random.default_rng(0)
    x = rng.integers(0, 30, 600)
    codes = np.stack([x, np.minimum(x + rng.integers(0, 5, 600), 39)]).astype(np.uint8)
    c = Comparison(domain=domain, real=codes[:, :400], synthetic=codes[:, 400:], roles=Roles(target="income"))
    score = LR.compute(c)
    assert score.details["task"] == "regression"
    assert 0.9 < score.value < 1


@pytest.mark.parametrize("name", ["logistic", "adaboost", "gradient-boosting", "hist-gradient-boosting", "xgboost"])
def test_every_model_learns_a_step(name):
    x = np.arange(450, dtype=np.float32)[:, None]
    y = (x[:, 0] >= 225).astype(np.int64)
    assert classification(classifier(name, 0), x, y, x, y)["auroc"] > 0.99
    model = regressor(name, 0).fit(x, y)
    assert np.corrcoef(model.predict(x), y)[0, 1] > 0.8


def test_the_ceiling_is_learnt_once_for_all_synthetic_tables_of_one_real_table():
    c = small(n=300, m=300, roles=SEX)
    first = LR.compute(c)
    c.shared[LR._shared_key(c)]["logistic"]["auroc"] = -1.0
    other = dataclasses.replace(c, synthetic=draw(300, 8))
    assert LR.compute(other).details["ceiling"] == -1
    assert LR.compute(dataclasses.replace(other, real=draw(300, 1))).details["ceiling"] > 0
    assert first.details["ceiling"] > 0


def test_without_a_held_out_table_a_third_is_kept_from_the_ceiling():
    c = small(n=300, m=100, roles=SEX)
    details = LR.compute(c).details
    assert (details["trained_on"], details["tested_on"]) == (200, 100)
    train, test = LR._split(c, "sex")
    assert sorted([*train, *test]) == list(range(300))


def test_scores_are_json_and_repeat():
    c = small(n=200, m=200, roles=SEX)
    a, b = (LR.compute(dataclasses.replace(c, shared={})).to_json() for _ in range(2))
    assert a == b
    json.dumps(a, allow_nan=False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: dataclasses.replace(c, real=c.real[:, c.real[1] == 0]), "a single value of 'sex'"),
        (lambda c: dataclasses.replace(c, real=c.real[:, :4]), "fewer than six real records"),
        (lambda c: dataclasses.replace(c, roles=Roles(target="wealth")), "'wealth' is not in the schema"),
    ],
)
def test_what_cannot_be_learnt_is_one_sentence(change, words):
    with pytest.raises(MetricError, match=words):
        LR.compute(change(small(n=60, m=60, roles=SEX)))


def test_a_target_that_is_always_missing_is_refused():
    domain = Domain((CodedAttribute(name="x", size=3), CodedAttribute(name="y", size=3, special=1)))
    codes = np.array([[0, 1, 2] * 4, [0, 1, 1] * 4], np.uint8)
    lost = codes.copy()
    lost[1] = 2
    c = Comparison(domain=domain, real=codes, synthetic=lost, roles=Roles(target="y"))
    with pytest.raises(MetricError, match="no record with a value of 'y'"):
        LR.compute(c)


def test_one_attribute_alone_cannot_be_learnt():
    c = Comparison(domain=Domain.of({"a": 2}), real=draw(9, 1)[[1]], synthetic=draw(9, 2)[[1]])
    with pytest.raises(MetricError, match="another attribute"):
        LR.compute(c)


class Stopping:
    """A model that stops early, and puts this share of its records aside for it."""

    def __init__(self, share):
        self.given = {"early_stopping": "auto", "validation_fraction": share}

    def get_params(self):
        return self.given

    def set_params(self, **given):
        self.given |= given


@pytest.mark.parametrize(
    ("counts", "share", "stops"),
    [
        *(((50, 2), 0.1, True), ((50, 1), 0.1, False), ((10, 10), 0.1, True), ((9, 10), 0.1, False)),
        *(((10, 10), None, True), ((9, 10), None, False), ((2, 2), 0.5, True), ((2, 2, 2), 0.5, True)),
        *(((2, 2, 2), 0.4, False),),
    ],
)
def test_a_model_stops_early_where_every_class_has_two_records_and_one_of_those_put_aside(counts, share, stops):
    model = Stopping(share)
    _keep_rare_classes(model, np.repeat(np.arange(len(counts)), counts))
    assert model.given["early_stopping"] == ("auto" if stops else False)
    _keep_rare_classes(LogisticRegression(), np.zeros(1, dtype=int))
    _keep_rare_classes(object(), np.zeros(1, dtype=int))
