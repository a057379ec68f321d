"""Learning: train on synthetic records, test on real ones, and compare with training on real ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics import models
from dpsyn_core.metrics.base import Metric, Score
from dpsyn_core.metrics.comparison import Codes, Comparison, Floats
from dpsyn_core.metrics.features import Encoder
from dpsyn_core.metrics.registry import register

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
    which: tuple[str, ...] = models.DEFAULT
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
        """Real rows to train and to test on; the held-out table is the test when there is one."""
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

                guess = models.regressor(name, self.seed).fit(x_train, y_train).predict(x)
                return {"r2": float(r2_score(y, guess))}
            return classification(models.classifier(name, self.seed), x_train, y_train, x, y)

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
    held = np.unique(y)
    counts = np.array([(y == k).sum() for k in held])
    asked = held[[counts.argmin()]] if len(classes) == 2 else held
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
    known = codes[c.domain.index(target)] < a.size - a.special
    if c.numeric(target):
        known &= ~np.isnan(c.column(target, codes, values))
    return np.flatnonzero(known)
