"""What a declared target does to predictions: `python -m benchmarks.declared [--tables letters] [--seeds 5]`.

The same table with and without the target declared, by turns: how well models that learn on synthetic records tell the
target of real records that no run saw (AUROC where it has two values, else accuracy; boosted trees and a random
forest), and the mean distance of pairs. letters: strokes of ten letters (`benchmarks.order`). classes: 12,000 records
of fourteen categories of six hidden classes, and a target of three values that follows six of them, two together.
label-RECORDSxNUMBERS: numbers, some informative, and yes or no. census: ten attributes (`benchmarks.number_tables`),
owners. wide: 100 numbers (`benchmarks.questions`). adult: 25,907 records, 6,477 others, where the data folder holds
them. Means over seeds, and the standard error of the difference; noise is that of production. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from benchmarks import number_tables
from benchmarks.engine import mean_distance
from benchmarks.order import FRESH, characters
from benchmarks.process import table as markdown
from benchmarks.questions import made, named, wide
from benchmarks.tables import adult_raw
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema

Split = tuple[np.ndarray, np.ndarray, Schema, str]  # codes to learn from, codes that no run saw, their schema, target
TABLES = "letters,classes,label-3000x16,census,wide"
BINS = {"kind": "numeric", "dtype": "float", "min": -16, "max": 16, "bins": {"count": 64}}


def classes(seed: int, records: int = 12_000) -> tuple[np.ndarray, Schema]:
    """Categories of hidden classes, and a target that follows some of them."""
    shapes, rng = np.random.default_rng(5), np.random.default_rng(100 + seed)
    n = records + FRESH
    hidden, sizes = rng.integers(0, 6, n), shapes.integers(2, 9, 14)
    columns = []
    for size in sizes:
        upto = np.cumsum(shapes.dirichlet(np.full(size, 0.5), 6), axis=1)[hidden]
        columns.append((rng.random(n)[:, None] > upto).sum(axis=1).clip(0, size - 1))
    single = sum(shapes.normal(0, 1, (s, 3))[c] for s, c in zip(sizes[:6], columns[:6], strict=True))
    both = shapes.normal(0, 1.5, (sizes[0], sizes[1], 3))[columns[0], columns[1]]
    target = (single + both + rng.gumbel(0, 1, (n, 3))).argmax(axis=1)
    listed = [
        {"name": f"c{i}", "kind": "categorical", "values": [str(v) for v in range(size)]}
        for i, size in enumerate([*sizes.tolist(), 3])
    ]
    return np.array([*columns, target]).astype(np.uint8), Schema.of(
        {"version": 1, "name": "classes", "attributes": listed}
    )


def _label(seed: int, records: int, numbers: int) -> Split:
    from sklearn.datasets import make_classification

    x, y = make_classification(
        n_samples=2 * records, n_features=numbers, n_informative=max(2, numbers // 4), n_redundant=numbers // 4,
        weights=[0.7], class_sep=0.8, random_state=seed,
    )  # fmt: skip
    listed = [{"name": f"x{i:02d}", **BINS} for i in range(numbers)]
    listed.append({"name": "y", "kind": "categorical", "values": [0, 1]})
    codes = np.vstack([np.clip((x.T + 16) * 2, 0, 63), y]).astype(np.uint8)
    schema = Schema.of({"version": 1, "name": "label", "attributes": listed})
    return codes[:, records:], codes[:, :records], schema, "y"


def split(name: str, seed: int) -> Split:
    """A table by name."""
    if name in ("letters", "classes"):
        codes, schema = characters(seed) if name == "letters" else classes(seed)
        return codes[:, FRESH:], codes[:, :FRESH], schema, schema.domain().names[-1]
    if name.startswith("label-"):
        return _label(seed, *map(int, name.removeprefix("label-").split("x")))
    if name == "census":
        table = number_tables.census(27_000 + FRESH, seed + 20)
        codes = Codec(table.schema).encode(table.table).codes
        return codes[:, FRESH:], codes[:, :FRESH], table.schema, "owner"
    data, target, kept = (wide(), "label", 18_000) if name == "wide" else (adult_raw(), "income", 25_907)
    if data.schema is None:
        msg = f"the table {name} has no schema"
        raise SystemExit(msg)
    order = np.random.default_rng(0).permutation(data.codes.shape[1])[: kept + 6_477]
    return data.codes[:, order[:kept]], data.codes[:, order[kept:]], data.schema, target


def figures(synthetic: np.ndarray, fresh: np.ndarray, place: int) -> list[float]:
    """AUROC or accuracy of boosted trees and of a random forest that learn on synthetic codes."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.metrics import roc_auc_score

    (x, y), (seen, truth) = ((np.delete(c, place, 0).T, c[place]) for c in (synthetic, fresh))
    binary = len(np.unique(truth)) == 2
    if len(np.unique(y)) < 2:
        return [0.5 if binary else float(np.mean(truth == y[0]))] * 2
    out = []
    for model in (
        HistGradientBoostingClassifier(random_state=0, max_iter=60),
        RandomForestClassifier(100, random_state=0, min_samples_leaf=3),
    ):
        model.fit(x, y)
        score = roc_auc_score(truth, model.predict_proba(seen)[:, 1]) if binary else model.score(seen, truth)
        out.append(float(score))
    return out


def main() -> int:
    """Prints a row for each table and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--epsilons", default="1")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    rows: list[list[object]] = []
    for name in given.tables.split(","):
        for epsilon in map(float, given.epsilons.split(",")):
            found = []
            for seed in range(given.seeds):
                records, fresh, schema, target = split(name, seed)
                domain = schema.domain()
                runs = []
                for asked in (named([], schema), named([{"kind": "predict", "of": target}], schema)):
                    got = made(records, schema, asked, epsilon=epsilon, seed=seed)
                    runs.append([*figures(got, fresh, domain.index(target)), mean_distance(records, got, domain)])
                found.append(runs)
            scores = np.array(found)
            plain, told = scores.mean(axis=0)
            each = (scores[:, 1, :2] - scores[:, 0, :2]).mean(axis=1)
            error = float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else float("nan")
            cells = [f"{a:.3f} / {b:.3f}" for a, b in (plain[:2], told[:2])]
            rows.append(
                [name, f"{epsilon:g}", *cells, f"{each.mean():+.3f}", f"{error:.3f}", f"{plain[2]:.4f} / {told[2]:.4f}"]
            )
            print("| " + " | ".join(map(str, rows[-1])) + " |", file=sys.stderr, flush=True)
    heads = ["table", "epsilon", "undeclared", "declared", "difference", "standard error", "pairs"]
    print(markdown(heads, rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
