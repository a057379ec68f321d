"""The fits that intervals are made of: to noise drawn again, and to tables of which some are left out. Blind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.inference.calibrate import folds, without
from dpsyn_core.inference.redraw import redrawn
from dpsyn_core.inference.tuning import INFERENCE, Inference
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema.domain import AttributeSet

Codes = NDArray[np.unsignedinteger]
Refit = Callable[[Sequence[Measurement], Generator], Codes]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fits:
    """Synthetic records, unsigned (n_attributes, n_records) each.

    codes: the released table. redrawn: refits to noise drawn again. left_out: for each fold its pairs, and a refit to
    the tables that hold none of them. pairs_alone: a refit without the released tables of three and more attributes,
    or None where there are none.
    """

    codes: Codes
    redrawn: list[Codes] = field(default_factory=list)
    left_out: list[tuple[list[AttributeSet], Codes]] = field(default_factory=list)
    pairs_alone: Codes | None = None


def make_fits(
    codes: Codes,
    measured: Sequence[Measurement],
    refit: Refit,
    *,
    pure: bool,
    rng: Generator,
    leave_out: bool = True,
    progress: Progress = silent,
    tuning: Inference = INFERENCE,
) -> Fits:
    """All fits of one release.

    Args:
        codes: the released table.
        measured: what was released.
        refit: makes records from released tables, as the system does.
        pure: whether the noise was two-sided geometric.
        rng: of the post-processing.
        leave_out: also the fits without some tables, which only questions need that no table holds.
        progress: told the fits.
        tuning: constants.
    """
    pairs = list(dict.fromkeys(m.attributes for m in measured if len(m.attributes) == 2))
    parts = folds(pairs, tuning.folds, rng=rng) if leave_out else []
    larger = leave_out and any(len(m.attributes) > 2 for m in measured)
    total = tuning.refits + len(parts) + larger
    drawn, left = [], []
    for i in range(tuning.refits):
        drawn.append(refit(redrawn(measured, pure=pure, rng=rng), rng))
        progress("fitting again", i + 1, total)
    for i, part in enumerate(parts):
        left.append((part, refit(without(measured, part), rng)))
        progress("fitting again", tuning.refits + i + 1, total)
    alone = refit([m for m in measured if len(m.attributes) <= 2], rng) if larger else None
    progress("fitting again", total, total)
    return Fits(codes=codes, redrawn=drawn, left_out=left, pairs_alone=alone)
