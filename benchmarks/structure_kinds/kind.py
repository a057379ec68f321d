"""Kind: a kind of table with the figures that an analyst reads off it; and what several kinds count alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from benchmarks.number_tables import category, number
from dpsyn_core.schema.document import Schema

__all__ = ["Kind", "alpha", "category", "cramers_v", "foreign", "log_odds", "number", "shares_of", "words"]

Figures = Mapping[str, float]


class Kind(ABC):
    """A table that can be drawn again and again from one population, which is fixed by a seed of its own."""

    name: ClassVar[str]

    @abstractmethod
    def attributes(self) -> list[dict[str, Any]]:
        """Entries of the schema, all of them public."""

    @abstractmethod
    def drawn(self, rng: np.random.Generator) -> pd.DataFrame:
        """Records of fresh people: text in categories, numbers in numeric columns."""

    @abstractmethod
    def figures(self, made: pd.DataFrame, real: pd.DataFrame) -> Figures:
        """What is read off a table. made: may be the real table. real: for figures that compare with it."""

    def schema(self) -> Schema:
        """Of the attributes."""
        return Schema.of({"version": 1, "name": self.name, "attributes": self.attributes()})

    def columns(self, table: Any) -> pd.DataFrame:
        """A decoded table (pyarrow), with the types that `drawn` gives."""
        frame: pd.DataFrame = table.to_pandas()
        for a in self.attributes():
            column = frame[a["name"]]
            frame[a["name"]] = pd.to_numeric(column) if a["kind"] == "numeric" else column.astype(str)
        return frame


def words(stem: str, count: int) -> list[str]:
    """So many different names."""
    return [f"{stem}{i:03d}" for i in range(count)]


def shares_of(count: int, *, power: float = 1.0) -> np.ndarray:
    """Falling shares, as towns, products and shops have."""
    out = 1.0 / np.arange(3, count + 3) ** power
    return np.asarray(out / out.sum())


def foreign(made: pd.DataFrame, fine: str, coarse: str, follows: Mapping[str, str]) -> float:
    """Share of records whose coarse value is not the one that follows from the fine one."""
    return float((made[fine].map(follows) != made[coarse]).mean()) if len(made) else float("nan")


def alpha(items: pd.DataFrame) -> float:
    """Cronbach's alpha of numeric items."""
    k, whole = items.shape[1], items.sum(axis=1).var()
    return float(k / (k - 1) * (1 - items.var().sum() / whole)) if whole > 0 else 0.0


def cramers_v(one: pd.Series, other: pd.Series) -> float:
    """Of two categories."""
    counts = pd.crosstab(one, other).to_numpy(dtype=float)
    n, least = counts.sum(), min(counts.shape) - 1
    if least < 1:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    return float(np.sqrt((((counts - expected) ** 2) / expected).sum() / n / least))


def log_odds(outcome: np.ndarray, terms: Sequence[np.ndarray]) -> np.ndarray:
    """Coefficients of a logistic regression with an intercept, without it; a slight ridge keeps them finite."""
    x = np.column_stack([np.ones(len(outcome)), *terms])
    coefficients, ridge = np.zeros(x.shape[1]), 1e-3 * np.eye(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ coefficients, -30, 30)))
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + ridge, x.T @ (outcome - p) - ridge @ coefficients)
        coefficients = coefficients + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    return np.asarray(coefficients[1:])
