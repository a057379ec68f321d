"""Lab 21: what a table without names gives away, and what k-anonymity leaves open.

Source: Sweeney 2002; Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

KNOWN = ("CITY", "SEX", "AGE", "RACE", "MARST", "FAMSIZE")  # what neighbours know of each other
HIDDEN = "EMPSTAT"
BANDS = (1, 5, 10, 20)  # years of age in a class


@dataclass(frozen=True, kw_only=True, slots=True)
class Linked:
    """One entry a person of the sample.

    size: people who agree in all that is known. alike: whether all of them have the same secret.
    """

    size: NDArray[np.int64]
    alike: NDArray[np.bool_]

    def below(self, k: int) -> float:
        """Share of people in groups of fewer than k: left out of a k-anonymous table."""
        return float((self.size < k).mean())

    def told(self, k: int) -> float:
        """Share of the people in groups of k and more whose secret the group gives away; 0 where nobody is left."""
        kept = self.size >= k
        return float(self.alike[kept].mean()) if kept.any() else 0.0


@cache
def _codes() -> dict[str, NDArray[np.int64]]:
    from dpsyn_core.schema.sample import sample_table

    table = sample_table()
    found = {n: np.unique(table.column(n).to_numpy(), return_inverse=True)[1] for n in (*KNOWN, HIDDEN) if n != "AGE"}
    return found | {"AGE": table.column("AGE").cast("int64").to_numpy()}


@lru_cache(maxsize=256)
def linked(known: tuple[str, ...], band: int) -> Linked:
    """Groups of the simulated sample that agree in what somebody knows, ages in classes of `band` years."""
    codes = _codes()
    n = len(codes[HIDDEN])
    rows = [codes[name] // band if name == "AGE" else codes[name] for name in known]
    group = _groups(rows, n)
    size = np.bincount(group)
    secrets = np.unique(np.stack([group, codes[HIDDEN]]), axis=1)[0]
    alike = np.bincount(secrets, minlength=len(size)) == 1
    return Linked(size=size[group], alike=alike[group])


def _groups(rows: Sequence[NDArray[np.int64]], n: int) -> NDArray[np.intp]:
    if not rows:
        return np.zeros(n, dtype=np.intp)
    return np.asarray(np.unique(np.stack(rows), axis=1, return_inverse=True)[1]).ravel()
