"""The protocol of Chen et al. (SIGMOD 2025, arXiv 2504.14061) on Adult: `python -m benchmarks.sigmod`.

25,907 records to train on, 6,477 to validate with, the others to test on, drawn by a seed; numbers in at most 100 bins;
delta 1e-5. Mean total variation distance of all single columns and pairs; 1,000 random queries of three columns (a
range of an ordered one, one value of another), mean absolute error as a share of the records; macro F1 of CatBoost, a
random forest and XGBoost that learn the income from the synthetic records. Each is tuned on the validation records and
scored on the others. The first row is the real records themselves, with the distances between the first two parts.
CatBoost is no part of the locks: its column says so where it is not installed (pip install catboost). Peers run as in
`benchmarks.peers.run`, at their authors' settings. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine import mean_distance, run_system
from benchmarks.peers.run import ENVIRONMENTS, PEERS, run_peer
from benchmarks.process import table as markdown
from benchmarks.tables import Table, adult_raw
from dpsyn_core.schema.domain import Domain

DELTA = 1e-5
TRAIN, VALIDATION, QUERIES = 25_907, 6_477, 1_000
TARGET = "income"
Model = Callable[[dict[str, Any]], Any]
GRID: tuple[dict[str, int], ...] = ({"depth": 4}, {"depth": 6}, {"depth": 8})
TREES = 200


def _catboost(given: dict[str, Any]) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(iterations=TREES, depth=given["depth"], random_seed=0, verbose=0, thread_count=1,
                              allow_writing_files=False)  # fmt: skip


def _forest(given: dict[str, Any]) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=TREES, max_depth=2 * given["depth"], random_state=0, n_jobs=1)


def _xgboost(given: dict[str, Any]) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=TREES, max_depth=given["depth"], learning_rate=0.1, random_state=0, n_jobs=1)


MODELS: dict[str, Model] = {"CatBoost": _catboost, "random forest": _forest, "XGBoost": _xgboost}


def queries(domain: Domain, seed: int = 0) -> list[list[tuple[int, int, int]]]:
    """Each: three attributes with the first and last code that counts."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(QUERIES):
        asked = []
        for i in sorted(rng.choice(len(domain), 3, replace=False).tolist()):
            a = domain.attributes[i]
            low, high = sorted(rng.integers(0, a.size, 2).tolist()) if a.ordered else [int(rng.integers(0, a.size))] * 2
            asked.append((i, low, high))
        out.append(asked)
    return out


def answers(codes: np.ndarray, asked: list[list[tuple[int, int, int]]]) -> np.ndarray:
    """The share of the records that each query counts."""
    inside = [np.logical_and.reduce([(codes[i] >= a) & (codes[i] <= b) for i, a, b in query]) for query in asked]
    return np.array([x.mean() for x in inside])


def learned(synthetic: np.ndarray, validation: np.ndarray, test: np.ndarray, target: int) -> list[str]:
    """Macro F1 on the test records, of the setting that is best on the validation records."""
    from sklearn.metrics import f1_score

    def parts(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.delete(codes, target, 0).T.astype(np.int64), codes[target].astype(np.int64)

    (x, y), (xv, yv), (xt, yt) = (parts(c) for c in (synthetic, validation, test))
    found = []
    for make in MODELS.values():
        if len(np.unique(y)) < 2:
            found.append(f"{f1_score(yt, np.full_like(yt, y[0]), average='macro'):.3f}")
            continue
        try:
            fitted = [make(given).fit(x, y) for given in GRID]
        except ImportError:
            found.append("not installed")
            continue
        best = max(fitted, key=lambda m: f1_score(yv, np.ravel(m.predict(xv)), average="macro"))
        found.append(f"{f1_score(yt, np.ravel(best.predict(xt)), average='macro'):.3f}")
    return found


def scores(
    data: Table, train: np.ndarray, synthetic: np.ndarray, rest: tuple[np.ndarray, np.ndarray], *, of: np.ndarray
) -> list[str]:
    """Distances of `of`, queries of it, and what is learned from `synthetic`."""
    asked = queries(data.domain)
    ones, pairs = (mean_distance(train, of, data.domain, k) for k in (1, 2))
    error = float(np.abs(answers(train, asked) - answers(of, asked)).mean())
    return [f"{ones:.4f}", f"{pairs:.4f}", f"{error:.5f}", *learned(synthetic, *rest, data.domain.index(TARGET))]


def main(arguments: list[str] | None = None) -> int:
    """Every system at every epsilon, then the peers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilons", default=".2,1,5")
    parser.add_argument("--systems", default="rls,aim,mst,privbayes,independent")
    parser.add_argument("--peers", default="", help=f"of {', '.join(PEERS)}")
    parser.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="folder of the peers' environments")
    parser.add_argument("--limit", type=int, default=3600, help="CPU seconds of one run of a peer")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    data = adult_raw()
    order = np.random.default_rng(args.seed).permutation(data.codes.shape[1])
    train, validation, test = np.split(data.codes[:, order], [TRAIN, TRAIN + VALIDATION], axis=1)
    rest = (validation, test)
    headers = ["epsilon", "system", "columns", "pairs", "queries", *(f"F1 {n}" for n in MODELS)]
    rows = [["", "real; distances of the validation records", *scores(data, train, train, rest, of=validation)]]
    given = Table(name="adult train", codes=train, domain=data.domain)
    for epsilon in args.epsilons.split(","):
        for system in filter(None, args.systems.split(",")):
            made = run_system(system, train, data.domain, epsilon=float(epsilon), delta=DELTA).codes
            rows.append([epsilon, system, *scores(data, train, made, rest, of=made)])
            print(" ".join(rows[-1]), file=sys.stderr, flush=True)
        for peer in filter(None, args.peers.split(",")):
            done = run_peer(peer, given, epsilon=float(epsilon), delta=DELTA, limit=args.limit,
                            environments=args.environments)  # fmt: skip
            found = [done.said, "", "", "", "", ""]
            if done.codes is not None:
                found = scores(data, train, done.codes, rest, of=done.codes)
            rows.append([epsilon, peer, *found])
            print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    print(markdown(headers, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
