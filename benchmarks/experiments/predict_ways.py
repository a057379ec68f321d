"""A declared target measured in several ways: `python -m benchmarks.experiments.predict_ways [--table wide|adult]`.

The wide table of `benchmarks.questions` or Adult, (1, 1e-5), a tenth held out. Prints the AUROC of logistic regression
and of gradient boosted trees that learnt on real records, on records of an undeclared run, of a run that was told the
target but measures no triple with it and scores all pairs, of one that scores all pairs, and of `rls` as it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.experiments.variants import changed
from benchmarks.process import table as markdown
from benchmarks.questions import _schema, named, wide
from benchmarks.tables import adult_codes
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.noise.system import SystemNoise
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.rls.system import Rls, RlsConfig
from dpsyn_core.synthesizers.rls.tuning import TUNING

EVERY: Mapping[str, Any] = {"declared.precise_score": 1e9}
WAYS: Mapping[str, tuple[bool, Mapping[str, Any]]] = {
    "nothing declared": (False, {}),
    "target with each column": (True, {**EVERY, "declared.target_most": 1}),
    "and triples, all pairs scored": (True, EVERY),
    "and triples, pairs of columns that tell": (True, {}),
}


def learners(
    train: np.ndarray, test: np.ndarray, target: int, listed: list[int]
) -> Callable[[np.ndarray], list[float]]:
    """A function from records to the AUROC of both models on `test`. listed: columns whose values have no order."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    others = [i for i in range(len(train)) if i != target]
    sizes = np.maximum(train.max(axis=1), test.max(axis=1)).astype(int) + 1

    def features(rows: np.ndarray) -> np.ndarray:
        parts = [np.eye(sizes[i])[np.minimum(rows[i], sizes[i] - 1)] if i in listed
                 else rows[i][:, None] / sizes[i] for i in others]  # fmt: skip
        return np.hstack(parts)

    def scores(rows: np.ndarray) -> list[float]:
        linear = LogisticRegression(max_iter=300).fit(features(rows), rows[target])
        trees = HistGradientBoostingClassifier(max_iter=100).fit(rows[others].T, rows[target])
        first = roc_auc_score(test[target], linear.decision_function(features(test)))
        second = roc_auc_score(test[target], trees.predict_proba(test[others].T)[:, 1])
        return [float(first), float(second), float(first + second) / 2]

    return scores


def main() -> None:
    """Prints a row a way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", choices=("wide", "adult"), default="wide")
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    data, target = (wide(), "label") if given.table == "wide" else (adult_codes(), "income>50K")
    schema, order = _schema(data), np.random.default_rng(0).permutation(data.codes.shape[1])
    cut = len(order) // 10
    train, test = data.codes[:, order[cut:]], data.codes[:, order[:cut]]
    listed = [i for i, a in enumerate(data.domain.attributes) if not a.ordered]
    scores = learners(train, test, data.domain.index(target), listed)
    rows = [["real records", *(f"{v:.3f}" for v in scores(train))]]
    for name, (told, changes) in WAYS.items():
        asked = named([{"kind": "predict", "of": target}] if told else [], schema)
        runs = []
        for seed in range(given.seeds):
            task = Task.of(schema, Budget(epsilon=1.0, delta=1e-5), questions=asked)
            system = Rls(RlsConfig(), task, tuning=changed(TUNING, changes))
            gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=task.unit)
            measured = system.measure(MemoryCounter(train, task.domain), gate=gate)
            runs.append(scores(system.synthesize(measured, None, rng=np.random.default_rng(seed))))
        rows.append([name, *(f"{v:.3f}" for v in np.mean(runs, axis=0))])
    print(markdown(["records", "logistic", "trees", "mean"], rows), flush=True)


if __name__ == "__main__":
    main()
