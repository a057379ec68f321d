"""Models trained on the synthetic table and tested on the real one.

The models of the learning metric, by name.

Feature matrices for learning: numbers standardised, categories as indicators, the same for all tables.

Propensity: how well a logistic regression tells synthetic records from real ones.

Learning: train on synthetic records, test on real ones, and compare with training on real ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import ExtraError, MetricError
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Codes, Comparison, Floats
from dpsyn_core.extras import require

# gradient boosting: the parameters of Takagi et al. 2021 (P3GM), section VI
PAPER = {"max_features": "sqrt", "max_depth": 8, "min_samples_leaf": 50, "min_samples_split": 200}
DEFAULT = ("logistic", "adaboost", "gradient-boosting", "hist-gradient-boosting")


def _needed() -> None:
    """Raises MetricError without scikit-learn, so that a report says so in the place of a score."""
    try:
        require("learning", "a model that learns")
    except ExtraError as error:
        raise MetricError(str(error)) from error


def classifier(name: str, seed: int) -> Any:
    """A fresh classifier. Raises MetricError for an unknown name, or when its library is not installed."""
    _needed()
    from sklearn import ensemble
    from sklearn.linear_model import LogisticRegression

    makers: dict[str, Callable[[], Any]] = {
        "logistic": lambda: LogisticRegression(max_iter=300),
        "adaboost": lambda: ensemble.AdaBoostClassifier(random_state=seed),
        "gradient-boosting": lambda: ensemble.GradientBoostingClassifier(random_state=seed, **PAPER),
        "hist-gradient-boosting": lambda: ensemble.HistGradientBoostingClassifier(random_state=seed),
        "xgboost": lambda: _xgboost("XGBClassifier", seed),
    }
    return _make(name, makers)


def regressor(name: str, seed: int) -> Any:
    """A fresh regressor of the same family; `logistic` stands for ridge regression."""
    _needed()
    from sklearn import ensemble
    from sklearn.linear_model import Ridge

    makers: dict[str, Callable[[], Any]] = {
        "logistic": lambda: Ridge(),
        "adaboost": lambda: ensemble.AdaBoostRegressor(random_state=seed),
        "gradient-boosting": lambda: ensemble.GradientBoostingRegressor(random_state=seed, **PAPER),
        "hist-gradient-boosting": lambda: ensemble.HistGradientBoostingRegressor(random_state=seed),
        "xgboost": lambda: _xgboost("XGBRegressor", seed),
    }
    return _make(name, makers)


def _make(name: str, made: dict[str, Callable[[], Any]]) -> Any:
    if name not in made:
        msg = f"unknown model '{name}'; known are {', '.join(made)}"
        raise MetricError(msg)
    return made[name]()


def _xgboost(kind: str, seed: int) -> Any:
    try:
        import xgboost
    except ImportError as error:
        msg = "the model 'xgboost' needs the package xgboost; install it, or leave the model out"
        raise MetricError(msg) from error
    return getattr(xgboost, kind)(random_state=seed, n_jobs=1)


ONE_HOT = 50  # an attribute with more categories is one number, its code


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoder:
    """Turns tables into float32 features; fitted to one table, so that all models see one scale."""

    c: Comparison
    names: Sequence[str]
    centres: Mapping[str, tuple[float, float]]

    @classmethod
    def fit(cls, c: Comparison, names: Sequence[str]) -> Encoder:
        """Takes mean and deviation of the real numbers (private, like everything that is learnt here)."""
        centres: dict[str, tuple[float, float]] = {}
        for name in names:
            if not _indicators(c, name):
                x = _numbers(c, name, c.truth, c.real_values)
                x = x[~np.isnan(x)]
                centres[name] = (float(x.mean()), float(x.std()) or 1.0) if len(x) else (0.0, 1.0)
        return cls(c=c, names=names, centres=centres)

    def __call__(self, codes: Codes, values: Mapping[str, Floats], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Features (len(rows), k): missing numbers are set to the mean and have an indicator beside them."""
        columns: list[NDArray[np.float32]] = []
        for name in self.names:
            a, i = self.c.domain[name], self.c.domain.index(name)
            if name in self.centres:
                mean, deviation = self.centres[name]
                x = (_numbers(self.c, name, codes, values)[rows] - mean) / deviation
                columns.append(np.nan_to_num(x, nan=0.0).astype(np.float32))
                if a.special or (name == self.c.resolved.income and self.c.resolved.not_applicable is not None):
                    columns.append(np.isnan(x).astype(np.float32))
            else:
                code = codes[i][rows]
                columns.extend((code == v).astype(np.float32) for v in range(a.size))
        return np.stack(columns, axis=1)


def _indicators(c: Comparison, name: str) -> bool:
    return not c.numeric(name) and c.domain[name].size <= ONE_HOT


def _numbers(c: Comparison, name: str, codes: Codes, values: Mapping[str, Floats]) -> Floats:
    if name in values and name in c.bounds:
        return c.column(name, codes, values)
    if c.numeric(name):
        return c.ranks(name, codes)
    return np.asarray(codes[c.domain.index(name)], dtype=np.float64)


@register(55)
@dataclass(frozen=True, kw_only=True)
class Propensity(Metric):
    """Main effects of all attributes; at most `most` records of each table, drawn by the seed."""

    name = "pmse"
    title = "Telling real from synthetic"
    question = "Can a simple model tell a synthetic record from a real one?"
    goal = "low"
    minimum = 0.0
    maximum = 0.25
    unit = "mean squared propensity error"
    quick = False
    most: int = 20_000
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Mean of (p - c)^2, the pMSE, with c the synthetic share; the floor is what a fresh sample would score.

        Source: Snoke, Raab, Nowok, Dibben, Slavkovic 2018, J. R. Statist. Soc. A 181(3): (k - 1)(1 - c)^2 c / N for
        a logistic model of k parameters.
        """
        _needed()
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import roc_auc_score

        c = comparison
        rng = np.random.default_rng(self.seed)
        encode = Encoder.fit(c, c.domain.names)
        rows = [np.sort(rng.permutation(size)[: self.most]) for size in (c.n, c.m)]
        x = np.concatenate([encode(c.truth, c.real_values, rows[0]), encode(c.synthetic, c.synthetic_values, rows[1])])
        y = np.repeat([0, 1], [len(rows[0]), len(rows[1])])
        x = np.unique(x[:, np.ptp(x, axis=0) > 0], axis=1)  # constant and repeated columns say nothing
        share = float(y.mean())
        if x.shape[1] == 0:
            return self._score(0.0, 0.0, 0.5, 1)
        model = LogisticRegression(C=1e4, max_iter=500).fit(x, y)
        p = model.predict_proba(x)[:, 1]
        centred = x.astype(np.float64) - x.mean(axis=0, dtype=np.float64)
        k = int(np.linalg.matrix_rank(centred.T @ centred, hermitian=True)) + 1  # of the columns, at their own size
        expected = (k - 1) * (1 - share) ** 2 * share / len(y)
        return self._score(float(((p - share) ** 2).mean()), expected, float(roc_auc_score(y, p)), k)

    def _score(self, pmse: float, expected: float, auroc: float, parameters: int) -> Score:
        return Score(
            metric=self.name,
            value=pmse,
            floor=expected,
            sentence=f"Shown a real and a synthetic record, a simple model names the real one {auroc:.0%} of the time "
            "(50% is guessing).",
            details={"ratio": pmse / expected if expected > 0 else None, "auroc": auroc, "parameters": parameters},
        )


TEST_SHARE = 1 / 3
MANY = 20  # an ordered target of more values than this is predicted as a number
Rows = NDArray[np.intp]
Results = dict[str, dict[str, float]]


@register(60)
@dataclass(frozen=True, kw_only=True)
class Learning(Metric):
    """Predicts the target of the comparison's roles by each model. At most `most` records to train and to test."""

    name = "learning"
    title = "Learning from synthetic records"
    question = "Does a model that was trained on synthetic records predict real ones?"
    goal = "high"
    minimum = None
    maximum = 1.0
    unit = "AUROC, or R2 for numbers"
    on = "records"
    quick = False
    which: tuple[str, ...] = DEFAULT
    most: int = 30_000
    seed: int = 0

    def compute(self, comparison: Comparison) -> Score:
        """Mean AUROC (R2) of models trained on synthetic records; the details hold that of training on real ones."""
        c, target = comparison, comparison.resolved.target
        if target is None or len(c.domain) < 2:
            msg = "learning needs a target with two or more values and another attribute; name one with --target"
            raise MetricError(msg)
        number = c.numeric(target) and c.domain[target].size - c.domain[target].special > MANY
        train, test = self._split(c, target)
        encode = Encoder.fit(c, [n for n in c.domain.names if n != target])
        rows = _known(c, target, c.synthetic, c.synthetic_values)
        sets = {
            "synthetic": self._drawn(encode, c, target, c.synthetic, c.synthetic_values, rows, number),
            "real": self._drawn(encode, c, target, c.truth, c.real_values, train, number),
        }
        tested = (c.truth, c.real_values) if c.held_out is None else (c.held_out, c.held_out_values)
        x, y = self._drawn(encode, c, target, *tested, test, number)
        if np.ptp(y) == 0:
            msg = f"the real test records have a single value of '{target}', so nothing can be learnt; choose another"
            raise MetricError(msg)
        results: dict[str, Results] = {"synthetic": {}, "real": {}}
        for source, (x_train, y_train) in sets.items():
            if source == "real" and self._shared_key(c) in c.shared:
                results["real"] = c.shared[self._shared_key(c)]
                continue
            for name in self.which:
                results[source][name] = self._run(name, number, x_train, y_train, x, y)
        c.shared[self._shared_key(c)] = results["real"]
        return self._answer(target, number, results, test_seen=c.held_out is None, sizes=(len(sets["real"][1]), len(y)))

    def _shared_key(self, c: Comparison) -> tuple[object, ...]:
        """Training on real records gives the same result for every table that is compared with the same real one."""
        return (self, c.resolved.target, id(c.real), id(c.held_out))

    def _split(self, c: Comparison, target: str) -> tuple[Rows, Rows]:
        """Real rows to train and to test on; the holdout is the test when there is one."""
        rows = _known(c, target, c.truth, c.real_values)
        if c.held_out is not None:
            return rows, _known(c, target, c.held_out, c.held_out_values)
        if len(rows) < 6:
            msg = f"fewer than six real records have a value of '{target}'; learning needs more"
            raise MetricError(msg)
        mixed = np.random.default_rng(self.seed).permutation(rows)
        cut = max(2, round(len(rows) * TEST_SHARE))
        return mixed[cut:], mixed[:cut]

    def _drawn(
        self,
        encode: Encoder,
        c: Comparison,
        target: str,
        codes: Codes,
        values: Mapping[str, Floats],
        rows: Rows,
        number: bool,
    ) -> tuple[NDArray[np.float32], NDArray[Any]]:
        if len(rows) == 0:
            msg = f"a table has no record with a value of '{target}'; choose another target"
            raise MetricError(msg)
        rows = np.sort(np.random.default_rng(self.seed + 1).permutation(rows)[: self.most])
        if number:
            y: NDArray[Any] = c.column(target, codes, values)[rows]
        else:
            y = codes[c.domain.index(target)][rows].astype(np.int64)
        return encode(codes, values, rows), y

    def _run(
        self, name: str, number: bool, x_train: Any, y_train: NDArray[Any], x: Any, y: NDArray[Any]
    ) -> dict[str, float]:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        # one thread: sums in one order, and no waiting for busy cores
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")  # a model that has not converged is a poorer model, which the score says
            if number:
                from sklearn.metrics import r2_score

                guess = regressor(name, self.seed).fit(x_train, y_train).predict(x)
                return {"r2": float(r2_score(y, guess))}
            return classification(classifier(name, self.seed), x_train, y_train, x, y)

    def _answer(
        self, target: str, number: bool, results: dict[str, Results], *, test_seen: bool, sizes: tuple[int, int]
    ) -> Score:
        headline = "r2" if number else "auroc"
        ours, ceiling = (float(np.mean([r[headline] for r in results[s].values()])) for s in ("synthetic", "real"))
        word = "R2" if number else "AUROC"
        unseen = "" if not test_seen else " The test records were open to the synthesizer (no held-out table given)."
        return Score(
            metric=self.name,
            value=ours,
            sentence=f"Models of '{target}' trained on synthetic records reach {word} {ours:.3f} on real ones; "
            f"trained on real ones they reach {ceiling:.3f}.{unseen}",
            details={
                "target": target,
                "task": "regression" if number else "classification",
                "ceiling": ceiling,
                "held_out": not test_seen,
                "trained_on": sizes[0],
                "tested_on": sizes[1],
                "train_synthetic": results["synthetic"],
                "train_real": results["real"],
            },
        )


def classification(
    model: Any, x_train: Any, y_train: NDArray[np.int64], x: Any, y: NDArray[np.int64]
) -> dict[str, float]:
    """AUROC, AUPRC, accuracy and F1 on the test records.

    Two classes: of the rarer one; more: the mean over the classes that the test records hold. A class absent from
    training has probability 0; training records of a single class predict that class (AUROC 1/2, AUPRC the share).
    """
    from sklearn.metrics import accuracy_score, average_precision_score, f1_score, roc_auc_score

    classes = np.unique(np.concatenate([y_train, y]))
    p = np.zeros((len(y), len(classes)))
    trained = np.unique(y_train)
    if len(trained) == 1:
        p[:, np.searchsorted(classes, trained)] = 1.0
    else:  # xgboost wants classes 0 .. k - 1
        _keep_rare_classes(model, y_train)
        p[:, np.searchsorted(classes, trained)] = model.fit(x_train, np.searchsorted(trained, y_train)).predict_proba(x)
    guess = classes[p.argmax(axis=1)]
    kinds = np.unique(y)
    counts = np.array([(y == k).sum() for k in kinds])
    asked = kinds[[counts.argmin()]] if len(classes) == 2 else kinds
    at = np.searchsorted(classes, asked)
    return {
        "auroc": float(np.mean([roc_auc_score(y == k, p[:, i]) for k, i in zip(asked, at, strict=True)])),
        "auprc": float(np.mean([average_precision_score(y == k, p[:, i]) for k, i in zip(asked, at, strict=True)])),
        "accuracy": float(accuracy_score(y, guess)),
        "f1": float(np.mean([f1_score(y == k, guess == k, zero_division=0) for k in asked])),
    }


def _keep_rare_classes(model: Any, y: NDArray[np.int64]) -> None:
    """Turns off early stopping where a class is too rare for a part of the records to be put aside for it.

    Early stopping splits the training records class by class, which needs two records of each, and as many records in
    the smaller part as there are classes.
    """
    if "early_stopping" not in getattr(model, "get_params", dict)():
        return
    _, counts = np.unique(y, return_counts=True)
    share = model.get_params().get("validation_fraction") or 0.1
    if counts.min() < 2 or share * len(y) < len(counts):
        model.set_params(early_stopping=False)


def _known(c: Comparison, target: str, codes: Codes, values: Mapping[str, Floats]) -> Rows:
    """Rows whose target is neither missing nor other, nor an income that is not applicable."""
    a = c.domain[target]
    valid = codes[c.domain.index(target)] < a.size - a.special
    if c.numeric(target):
        valid &= ~np.isnan(c.column(target, codes, values))
    return np.flatnonzero(valid)
