"""The fits from which intervals follow: to noise drawn again, and to tables of which some are left out. Blind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, noisy_total, redrawn
from dpsyn_core.progress import Progress, silent
from dpsyn_core.questions.answers.calibration import INFERENCE, Inference, folds, without
from dpsyn_core.schema import AttributeSet

Codes = NDArray[np.unsignedinteger]
Refit = Callable[[Sequence[Measurement], Generator], Codes]


class Fits:
    """Synthetic records of one release, unsigned (n_attributes, n_records) each, synthesized lazily."""

    def __init__(
        self,
        codes: Codes,
        measured: Sequence[Measurement],
        refit: Refit | None,
        *,
        pure: bool,
        seed: int = 0,
        progress: Progress = silent,
        tuning: Inference = INFERENCE,
    ) -> None:
        """Keeps the inputs of the fits; nothing is fitted yet.

        Args:
            codes: the released table.
            measured: what was released.
            refit: makes records from released tables, as the system does; None for one that cannot.
            pure: whether the noise was two-sided geometric.
            seed: of the post-processing; the same one gives the same fits.
            progress: receives the fits.
            tuning: constants.
        """
        self.codes, self._measured, self._refit, self._pure = codes, measured, refit, pure
        self._seed, self._progress, self._tuning = seed, progress, tuning

    @cached_property
    def _drawn(self) -> list[tuple[Codes, float]]:
        """Refits to the released tables with their noise drawn again, each with its number of records by those."""
        rng, out = np.random.default_rng([self._seed, 1]), list[tuple[Codes, float]]()
        if self._refit is None:
            return out
        for i in range(self._tuning.refits):
            tables = redrawn(self._measured, pure=self._pure, rng=rng)
            out.append((self._refit(tables, rng), noisy_total(tables)))
            self._progress("drawing the noise again", i + 1, self._tuning.refits)
        return out

    @property
    def redrawn(self) -> list[Codes]:
        """Refits to the released tables with their noise drawn again; none where the system cannot."""
        return [codes for codes, _ in self._drawn]

    @property
    def totals(self) -> list[float]:
        """The number of records by the tables that each of them was fitted to."""
        return [total for _, total in self._drawn]

    @cached_property
    def left_out(self) -> list[tuple[list[AttributeSet], Codes]]:
        """For each fold its pairs, and a refit to the released tables that hold none of them."""
        rng, out = np.random.default_rng([self._seed, 2]), list[tuple[list[AttributeSet], Codes]]()
        if self._refit is None:
            return out
        pairs = list(dict.fromkeys(m.attributes for m in self._measured if len(m.attributes) == 2))
        parts = folds(pairs, self._tuning.folds, rng=rng)
        for i, part in enumerate(parts):
            out.append((part, self._refit(without(self._measured, part), rng)))
            self._progress("leaving tables out", i + 1, len(parts))
        return out

    @cached_property
    def pairs_alone(self) -> Codes | None:
        """A refit without the released tables of three and more attributes; None where there are none."""
        if self._refit is None or all(len(m.attributes) <= 2 for m in self._measured):
            return None
        rng = np.random.default_rng([self._seed, 3])
        return self._refit([m for m in self._measured if len(m.attributes) <= 2], rng)
