"""Charge: one private access of a run, as it stands in the manifest, and the public kinds of releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# What a charge released, in public words: these, and `table_kind` for marginals. Plans group charges by it.
KINDS = frozenset(
    {
        "total",  # the number of records
        "question",  # a table that a declared question needs
        "scores",  # how far tables are from what is expected of them, noisy
        "choice",  # which of several candidates, by the exponential mechanism
        "mean",  # the mean of the tables of several pairs
        "cell",  # one count
        "group",  # a table of a group of attributes, in which small cells are cut
        "synthetic",  # a table of drawn records
        "coefficients",  # Fourier coefficients of a table of binary attributes
        "patterns",  # how often each combination of a few items occurs
        "range",  # counts by magnitude, or by year, from which a range is read
        "quantiles",  # counts from which quantiles are read
        "categories",  # values that enough individuals share
        "sum",  # a sum of vectors, one a record, each of bounded length
        "training",  # such sums over samples of the records, one a step
    }
)

Mechanism = Literal["gaussian", "geometric", "exponential", "partition-selection", "dirichlet", "sampled-gaussian"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """What was released, by which mechanism, and what it cost.

    sensitivity: L2 for gaussian, L1 otherwise (records of an individual for dirichlet). scale: sigma for gaussian,
    b for geometric, the prior count of a cell for dirichlet, 0 where the mechanism has none. rho is 0 for a charge
    that only has a pure-DP cost, epsilon is 0 for Gaussian ones. delta: the chance of a failure that the other
    numbers do not cover (partition selection, samples). sampled-gaussian only: `steps` Gaussian releases, each on a
    Poisson sample that holds every record with probability `sampling`; sensitivity is the largest norm of the vector
    of one record, `records` how many an individual has, each sampled by itself, and `exchanged` says that neighbours
    replace. Its rho is that of a Gaussian mechanism which, failing with probability delta, dominates all steps
    together (`privacy.subsampling`); a charge with delta 0 has no rho and is composed by itself. kind: one of
    `KINDS` or of `table_kind`; None for charges that were written down before there were kinds.
    """

    name: str
    mechanism: Mechanism
    sensitivity: float
    scale: float
    cells: int
    rho: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    sampling: float = 1.0
    steps: int = 1
    records: int = 1
    exchanged: bool = False
    kind: str | None = None


def table_kind(attributes: int) -> str:
    """The kind of a marginal over so many attributes: total, 1-way, 2-way, ..."""
    return f"{attributes}-way" if attributes else "total"


def is_table(kind: str | None) -> bool:
    """Whether a charge of this kind released a table of counts over attributes of the schema."""
    return kind in {"total", "question", "group"} or (kind is not None and kind.endswith("-way"))


def is_kind(kind: str) -> bool:
    """Whether a word is one of the public kinds."""
    count, way, rest = kind.partition("-way")
    return kind in KINDS or (way == "-way" and not rest and count.isdecimal() and not count.startswith("0"))
