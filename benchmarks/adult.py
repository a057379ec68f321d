"""The Adult codes of the data folder, and their mean distances to a synthetic table."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np

from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.schema.domain import Domain

DATA = Path(os.environ.get("DPSYN_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def adult() -> tuple[np.ndarray, Domain]:
    """Codes uint8 (14, 48842) and their domain."""
    domain = Domain.of(json.loads((DATA / "adult_domain.json").read_text()))
    with gzip.open(DATA / "adult_codes.csv.gz", "rt") as file:
        header = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    return np.ascontiguousarray(table.T[[header.index(n) for n in domain.names]]), domain


def mean_distance(real: np.ndarray, synthetic: np.ndarray, domain: Domain, k: int = 2, *, sets: int = 300) -> float:
    """Mean total variation distance over all k-way marginals, or over `sets` of them drawn once for all runs."""
    chosen = domain.subsets(k)
    if len(chosen) > sets:
        chosen = [chosen[i] for i in np.random.default_rng(0).choice(len(chosen), sets, replace=False)]
    pairs = zip(
        MemoryCounter(real, domain).marginals(chosen), MemoryCounter(synthetic, domain).marginals(chosen), strict=True
    )
    n, m = max(1, real.shape[1]), max(1, synthetic.shape[1])
    return float(np.mean([np.abs(a / n - b / m).sum() / 2 for a, b in pairs]))
