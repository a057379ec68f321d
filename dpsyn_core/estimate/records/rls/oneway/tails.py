"""The two ends of a column, beyond all that single counts show: how they are counted again, and what they hold. Blind.

A twentieth of a column that is spread thinly over hundreds of values is hidden by their noise. Counted once more in a
few blocks that grow with the distance from what is shown, it stands out, and so does the place at which it ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.records.rls.oneway.shape import Sums, smooth_part
from dpsyn_core.estimate.records.rls.tuning import RECORDS, Shrinkage

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


def ends_of(shown: NDArray[np.bool_], *, tuning: Shrinkage = RECORDS.shrinkage) -> list[slice]:
    """The two ends in which nothing is shown, read outwards, as far as they are long enough to hold a tail."""
    if not shown.any():
        return []
    first, last = int(np.argmax(shown)), len(shown) - 1 - int(np.argmax(shown[::-1]))
    low, high = slice(first - 1, None, -1) if first else slice(0, 0), slice(last + 1, len(shown))
    return [s for s, size in ((low, first), (high, len(shown) - last - 1)) if size >= tuning.tail_shortest]


def with_ends(recode: Places, shown: NDArray[np.bool_], *, tuning: Shrinkage = RECORDS.shrinkage) -> Places:
    """A coarse map of a column in which the ends that show no records have separate blocks.

    Args:
        recode: (size,), coarse values: those in order first, then special values.
        shown: (ranked,), where single counts show records.
        tuning: constants.
    """
    cut = np.diff(recode, prepend=-1) != 0
    growth = tuning.tail_growth
    for end in ends_of(shown, tuning=tuning):
        away = np.arange(len(cut[: len(shown)][end]))
        block = np.floor(np.log(away / tuning.tail_block * (growth - 1) + 1 + 1e-9) / np.log(growth))
        starts = np.diff(block, prepend=-1) != 0
        # a block that is read downwards begins where the one before it ends
        cut[: len(shown)][end] = starts if end.step is None else np.append(starts[1:], True)
        if end.step is not None:
            cut[end.start + 1] = True
    return (np.cumsum(cut) - 1).astype(np.intp)


def tail_of(
    end: slice,
    values: Floats,
    sigma: float,
    sums: Sums,
    known: Floats,
    noise: Floats,
    total: float,
    *,
    tuning: Shrinkage = RECORDS.shrinkage,
) -> Floats:
    """Expected counts of the values of an end, outwards.

    A smooth shape that falls outwards continues what is shown, as far as both tables agree with it; past the last
    blocks that show records it falls no slower than before, for there it follows their noise. Where a block lies
    off that shape, as beside a steep edge or at a second hump, and beside a value by itself, such as 0 among amounts,
    a smooth shape of the end alone takes its place, which may rise as far as blocks show records. Where a block lies
    off that one too, the counts of the blocks stand.

    Args:
        end: of the column, a union of whole coarse values; see `ends_of`.
        values: float64 (ranked,), noisy counts.
        sigma: standard deviation of their noise.
        sums: noisy counts of coarse values.
        known: float64 (coarse values,), their counts by least squares from both.
        noise: float64 (coarse values,), standard deviations of these.
        total: of all counts.
        tuning: constants.
    """
    step = end.step or 1
    recode, outwards = sums.recode[: len(values)][::step], values[::step]
    first = len(values) - len(values[end])
    of_end, place = np.unique(recode[first:], return_inverse=True)

    def smooth(start: int) -> Floats:
        inside = np.unique(recode[start:])
        rest = np.setdiff1d(np.arange(len(known)), inside)
        others = float(known[rest].sum()), max(float(np.sqrt((noise[rest] ** 2).sum())), sigma)
        blocks = Sums(np.searchsorted(inside, recode[start:]), sums.values[inside], sums.sigma)
        fine = max(first - start, 1)
        return smooth_part(outwards[start:], sigma, blocks, others, total, fine, tuning=tuning)

    def fits(shape: Floats) -> bool:
        off = np.abs(np.bincount(place, weights=shape) - known[of_end])
        return not (off > tuning.tail_far * noise[of_end]).any()

    start, block = _anchor(recode[:first], known, tuning.tail_anchor * total), recode[first]
    if first - start > 1 or outwards[start] <= tuning.tail_spike * max(known[block], noise[block]):
        whole = smooth(start)
        whole[first - start :] = np.minimum.accumulate(whole[first - start :])
        shape = whole[first - start :]
        if fits(shape):
            blocks, _, shown = _blocks_of(recode[first:], known, noise, tuning.tail_sure)
            past = first - start + int(np.isin(recode[first:], blocks[:shown]).sum())
            shape = _no_slower(whole, past)[first - start :]
            return np.where(np.cumsum(shape[::-1])[::-1] > tuning.tail_cut[0] * sums.sigma, shape, 0.0)
    counted = _block_by_block(recode[first:], known, noise, tuning)
    if not counted.any():
        return counted
    shape, last = smooth(first), int(np.flatnonzero(counted)[-1])
    shape[last:] = np.minimum.accumulate(shape[last:])  # a rise beyond the last block that shows records is noise
    cut = np.where(np.arange(len(shape)) > last, *tuning.tail_cut) * sums.sigma
    kept = np.where(np.cumsum(shape[::-1])[::-1] > cut, shape, 0.0)
    if not (kept.any() and fits(shape)):
        return counted
    return np.asarray(kept * (shape.sum() / kept.sum()))


def _no_slower(shape: Floats, place: int) -> Floats:
    """Falling counts that from this place on halve at least as fast as they did before it."""
    if not 0 < place < len(shape):
        return shape
    left = np.cumsum(shape[::-1])[::-1]
    half = max(place - int(np.count_nonzero(left > 2 * left[place])), 1)
    falling = shape[place] * 0.5 ** (np.arange(len(shape) - place) / half)
    return np.append(shape[:place], np.minimum(shape[place:], falling))


def _blocks_of(recode: Places, known: Floats, noise: Floats, far: float) -> tuple[Places, Floats, int]:
    """The blocks of an end, outwards, what each holds with all beyond it, and how many show records.

    The last of these is the one from which on all further blocks together stand out of their noise by so much.
    """
    blocks = recode[np.flatnonzero(np.diff(recode, prepend=-1) != 0)]
    left = np.cumsum(known[blocks][::-1])[::-1]
    far_blocks = np.flatnonzero(left > far * np.sqrt(np.cumsum(noise[blocks][::-1] ** 2)[::-1]))
    return blocks, left, int(far_blocks[-1]) + 1 if len(far_blocks) else 0


def _anchor(recode: Places, known: Floats, wanted: float) -> int:
    """Where the coarse values begin that are the last ones of a column and hold so many records."""
    starts = np.flatnonzero(np.diff(recode, prepend=-1) != 0)[::-1]
    sums = np.cumsum(known[recode[starts]])
    return int(starts[min(int(np.searchsorted(sums, wanted)), len(starts) - 1)])


def _block_by_block(recode: Places, known: Floats, noise: Floats, tuning: Shrinkage) -> Floats:
    """Counts of an end, outwards, from those of its blocks alone.

    It ends with the last block from which on all further ones together stand out of their noise. What lies beyond is
    moved into that block: the counts show that there are records, not that they are further away.
    """
    blocks, left, shown = _blocks_of(recode, known, noise, tuning.tail_far)
    counts = np.zeros(len(known))
    if shown:
        counts[blocks[: shown - 1]] = np.clip(known[blocks[: shown - 1]], 0, None)
        counts[blocks[shown - 1]] = left[shown - 1]
    weight = 1 / (np.arange(len(recode)) + tuning.tail_block)
    of_block = np.bincount(recode, weights=weight, minlength=len(known))
    out: Floats = weight * (counts[recode] / of_block[recode])
    return out
