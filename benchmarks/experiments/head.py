"""P3GM with a head for the column to predict and without one, and other schedules, on several tables.

`python -m benchmarks.experiments.head [--tables clusters,scores,people] [--seeds 2]`

Trains logistic regression and XGBoost on synthetic records at (1, 1e-5) and tests them on real ones. Beside the tables
of `benchmarks.deep`, where `adult` needs the file named in benchmarks/tables.py: `clusters`, 12 numbers whose label
depends on eight clusters; `scores`, 20 numbers from five factors, whose label follows squares and products; `people`,
eight categories and four numbers of eight hidden classes, whose label is a weighted sum.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks import deep
from benchmarks.engine import mean_distance
from benchmarks.process import table
from dpsyn_core.schema.domain import CodedAttribute, Domain

VARIANTS: dict[str, dict[str, Any] | None] = {
    "no head": {"target_share": 0.0},
    "linear head": {"hidden": 0},
    "head": {},
    "200 steps": {"steps": 200},
    "a larger mixture": {"mixture_share": 0.06},
    "rls": None,
}
JUDGES = ("logistic", "xgboost")


def clusters(n: int = 20_000) -> deep.Data:
    from sklearn.datasets import make_classification

    x, y = make_classification(
        n_samples=n, n_features=12, n_informative=8, n_redundant=2, n_clusters_per_class=4, class_sep=1.5,
        weights=[0.7], flip_y=0.02, random_state=11,
    )  # fmt: skip
    return deep.numeric((x - x.mean(0)) / x.std(0), y, 32, -4.0, 4.0)


def scores(n: int = 25_000) -> deep.Data:
    rng = np.random.default_rng(12)
    x = rng.normal(size=(n, 5)) @ (0.6 * rng.normal(size=(5, 20))) + rng.normal(size=(n, 20))
    x = (x - x.mean(0)) / x.std(0)
    score = 1.2 * x[:, 0] - 0.8 * x[:, 1] + 0.9 * x[:, 2] ** 2 + 0.8 * x[:, 3] * x[:, 4] + 0.5 * np.abs(x[:, 5])
    return deep.numeric(x, labels(1.5 * score, 0.75, rng), 32, -4.0, 4.0)


def labels(score: np.ndarray, negative: float, rng: np.random.Generator) -> np.ndarray:
    """A label that a score makes likely; about `negative` of the records have a score below even chances."""
    chances = 1 / (1 + np.exp(np.quantile(score, negative) - score))
    out: np.ndarray = (rng.random(len(score)) < chances).astype(int)
    return out


def people(n: int = 30_000) -> deep.Data:
    rng = np.random.default_rng(13)
    hidden, sizes = rng.integers(0, 8, n), (2, 3, 5, 8, 12, 20, 6, 4)
    codes, attributes, score = [], [], np.zeros(n)
    for i, size in enumerate(sizes):
        chances = rng.dirichlet(np.full(size, 0.6), 8)[hidden].cumsum(axis=1)
        codes.append(np.minimum((chances < rng.random(n)[:, None]).sum(axis=1), size - 1))
        attributes.append(CodedAttribute(name=f"c{i}", size=size))
        score += 0.8 * rng.normal(size=size)[codes[-1]]
    for i in range(4):
        x = 6 * (rng.normal(size=n) + 0.8 * rng.normal(size=8)[hidden]) + 20 + 1.5 * codes[2]
        codes.append(np.clip(x, 0, 49).astype(int))
        attributes.append(CodedAttribute(name=f"x{i}", size=50, ordered=True, number=True))
        score += 0.06 * (-1) ** i * (codes[-1] - 25)
    codes.append(labels(score, 0.8, rng))
    attributes.append(CodedAttribute(name="label", size=2))
    return deep.split(np.array(codes, dtype=np.uint8), Domain(tuple(attributes)), frozenset(f"x{i}" for i in range(4)))


TABLES = deep.TABLES | {"clusters": clusters, "scores": scores, "people": people}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="clusters,scores,people,wide", help=f"of {', '.join(TABLES)}")
    parser.add_argument("--variants", default="no head,linear head,head,rls", help=f"of {', '.join(VARIANTS)}")
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    rows = []
    for name in given.tables.split(","):
        data = TABLES[name]()
        auroc, auprc = deep.learnt(data, data.codes, 50_000, JUDGES)
        rows.append([name, "real", f"{auroc:.3f}", f"{auprc:.3f}", ""])
        for variant in given.variants.split(","):
            settings = VARIANTS[variant]
            found = []
            for seed in range(given.seeds):
                system = "rls" if settings is None else "p3gm"
                codes, _ = deep.one(data, system, settings or {}, 1.0, seed)
                distance = mean_distance(data.codes, codes, data.domain)
                found.append((*deep.learnt(data, codes, 50_000, JUDGES), distance))
            rows.append([name, variant, *(f"{v:.3f}" for v in np.mean(found, axis=0))])
            print(" | ".join(rows[-1]), flush=True)
    print()
    print(table(["table", "records of", "AUROC", "AUPRC", "two-way distance"], rows))


if __name__ == "__main__":
    main()
