"""What a declared target could reach without any noise: `python -m benchmarks.experiments.predict_ceiling`.

The wide table of `benchmarks.questions` (100 numbers, 20 informative), a tenth held out. Prints the AUROC of two models
that learnt on real records; on records whose columns are shuffled inside each class, as exact tables of the
target with each column allow; and on the same with one Gaussian copula for both classes, as exact pairs of columns
would add, or with one a class, which takes triples with the target.
"""

from __future__ import annotations

import numpy as np

from benchmarks.questions import wide


def shuffled(rows: np.ndarray, classes: np.ndarray, scores: dict[int, np.ndarray]) -> np.ndarray:
    """Each column's values of a class, in the order of that class's scores (records, columns)."""
    out = np.empty_like(rows)
    for c, drawn in scores.items():
        own = np.flatnonzero(classes == c)
        places = np.argsort(np.argsort(drawn, axis=0), axis=0)
        out[own] = np.take_along_axis(np.sort(rows[own], axis=0), places, axis=0)
    return out


def main() -> None:
    """Prints one line a kind of knowledge."""
    from scipy.special import ndtri
    from scipy.stats import rankdata
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    table = wide().table
    x = np.stack([np.asarray(table.column(f"x{i:02d}"), dtype=np.float64) for i in range(100)], axis=1)
    y = np.asarray(table.column("label"))
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    held, kept = order[: len(y) // 10], order[len(y) // 10 :]
    rows, classes = x[kept], y[kept]
    normal = {c: ndtri((rankdata(rows[classes == c], axis=0) - 0.5) / (classes == c).sum()) for c in (0, 1)}
    alone = {c: rng.normal(size=z.shape) for c, z in normal.items()}
    shared = np.corrcoef(np.concatenate(list(normal.values())), rowvar=False)

    def drawn(matrix: np.ndarray, count: int) -> np.ndarray:
        return rng.multivariate_normal(np.zeros(len(matrix)), matrix, count)

    known = {
        "real records": rows,
        "target with each column": shuffled(rows, classes, alone),
        "and pairs of columns": shuffled(rows, classes, {c: drawn(shared, len(z)) for c, z in normal.items()}),
        "and pairs of columns by class": shuffled(
            rows, classes, {c: drawn(np.corrcoef(z, rowvar=False), len(z)) for c, z in normal.items()}
        ),
    }
    for name, made in known.items():
        middle, spread = made.mean(axis=0), made.std(axis=0)
        linear = LogisticRegression(max_iter=200).fit((made - middle) / spread, classes)
        trees = HistGradientBoostingClassifier(max_iter=100).fit(made, classes)
        first = roc_auc_score(y[held], linear.decision_function((x[held] - middle) / spread))
        second = roc_auc_score(y[held], trees.predict_proba(x[held])[:, 1])
        print(f"{name:<30} logistic {first:.3f}  trees {second:.3f}  mean {(first + second) / 2:.3f}", flush=True)


if __name__ == "__main__":
    main()
