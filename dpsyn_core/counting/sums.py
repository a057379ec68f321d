"""Sums of clipped per-record vectors, block by block: what private records offer to the gate beside counts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.clipping import BLOCK, clipped
from dpsyn_core.counting.features import Features, Outer, Part, VectorMap
from dpsyn_core.errors import EngineError
from dpsyn_core.schema.domain import Domain

# For a number of records: which of them are in the sample. Drawn by the gate, which owns the randomness.
Sample = Callable[[int], NDArray[np.bool_]]


@dataclass(frozen=True, kw_only=True, slots=True)
class SumRule:
    """All that a sum of vectors depends on beside the records and the maps; public.

    features: what a map is given. clip: largest L2 norm of one record's vector. cells: of the vector. by: an
    attribute, whose every code has a sum (and a map) of its own; None: one sum. non_negative: see `clipped`.
    """

    features: Features
    clip: float
    cells: int
    by: str | None = None
    non_negative: bool = False


@runtime_checkable
class VectorCounter(Protocol):
    """A counter that can also sum clipped vectors of its records. All that it returns is private."""

    domain: Domain

    def vector_sum(self, rule: SumRule, maps: Sequence[VectorMap], sample: Sample | None = None) -> NDArray[np.int64]:
        """Exact sum over the records (of the sample) of their vectors on the grid of `clipping`.

        Args:
            rule: what is summed.
            maps: one; or one for each code of the attribute `rule.by`.
            sample: chooses records; None takes all.

        Returns:
            int64 (len(maps) * rule.cells,), in steps of clip / STEPS.
        """


def block_sum(
    columns: Mapping[str, NDArray[np.integer]],
    n_records: int,
    rule: SumRule,
    maps: Sequence[VectorMap],
    sample: Sample | None,
) -> NDArray[np.int64]:
    """`VectorCounter.vector_sum` of records whose codes are in memory, as columns by attribute name."""
    chosen = np.arange(n_records) if sample is None else np.flatnonzero(sample(n_records))
    out = np.zeros((len(maps), rule.cells), dtype=np.int64)
    for position, vectors in enumerate(maps):
        rows = chosen if rule.by is None else chosen[columns[rule.by][chosen] == position]
        for start in range(0, rows.size, BLOCK):
            at = rows[start : start + BLOCK]
            out[position] += sum_of_block({n: columns[n][at] for n in rule.features.tables}, at.size, rule, vectors)
    return out.ravel()


def sum_of_block(
    codes: Mapping[str, NDArray[np.integer]], n_records: int, rule: SumRule, vectors: VectorMap
) -> NDArray[np.int64]:
    """Sum of at most BLOCK records. The map sees a full block, zeros after the records, and a copy that is wiped.

    Whatever the map raises or warns of may depend on the records, and is not passed on.
    """
    block = np.zeros((BLOCK, rule.features.width))
    rule.features.fill(block, codes)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = head(vectors(block), n_records)
            whole = clipped(parts, rule.clip, non_negative=rule.non_negative)
    except Exception:  # noqa: BLE001  (of any kind: its words may hold values)
        msg = "a map from features to vectors failed on private records; it must not depend on them whether it fails"
        raise EngineError(msg) from None
    finally:
        block.fill(0.0)
    if sum(part.cells for part in whole) != rule.cells:
        msg = f"a map gave vectors of {sum(part.cells for part in whole)} cells where {rule.cells} were announced"
        raise EngineError(msg)
    return np.concatenate([part.total() for part in whole])


def head(parts: Sequence[Part], n_records: int) -> list[Part]:
    """The parts of the first records of a full block. Raises EngineError when a part is no full block."""
    out: list[Part] = []
    for part in parts:
        for factor in (part.left, part.right) if isinstance(part, Outer) else (part,):
            if np.ndim(factor) != 2 or len(factor) != BLOCK:
                msg = f"a map must return {BLOCK} rows for the {BLOCK} it is given"
                raise EngineError(msg)
        if isinstance(part, Outer):
            left = np.asarray(part.left)[:n_records]
            out.append(Outer(left=left, right=left if part.right is part.left else np.asarray(part.right)[:n_records]))
        else:
            out.append(np.asarray(part)[:n_records])
    return out
