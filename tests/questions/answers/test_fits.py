"""Refits of a release: which tables each is fitted to, how many there are, and that the same seed gives the same."""

import numpy as np

from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.questions.answers.calibration import INFERENCE
from dpsyn_core.questions.answers.fits import Fits

SETS = [(), ("a",), ("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"), ("a", "b", "c")]


def tables(sets=SETS):
    return [Measurement(attributes=s, values=np.full((2,) * len(s), 100.0 / 2 ** len(s)), sigma=1.0) for s in sets]


class Counting:
    def __init__(self):
        self.given, self.said = [], []

    def refit(self, measured, rng):
        self.given.append([m.attributes for m in measured])
        return np.full((4, 3), len(self.given), dtype=np.uint8)

    def progress(self, *said):
        self.said.append(said)


def fits(sets=SETS, *, refit=True, seed=0, pure=False):
    kept = Counting()
    made = Fits(np.zeros((4, 3), np.uint8), tables(sets), kept.refit if refit else None, pure=pure, seed=seed,
                progress=kept.progress)  # fmt: skip
    return made, kept


def test_ten_refits_have_all_tables_with_their_noise_drawn_again():
    made, kept = fits()
    assert [int(c[0, 0]) for c in made.redrawn] == list(range(1, INFERENCE.refits + 1))
    assert kept.given == [SETS] * 10 and kept.said[-1] == ("drawing the noise again", 10, 10)
    assert [s[1:] for s in kept.said] == [(k, 10) for k in range(1, 11)]
    assert len(set(made.totals)) == 10 and all(90 < t < 110 for t in made.totals)
    assert fits()[0].totals == made.totals != fits(seed=1)[0].totals
    assert fits(pure=True)[0].totals != made.totals


def test_each_pair_is_left_out_once_with_every_table_that_holds_it():
    made, kept = fits()
    left = made.left_out
    pairs = [s for s in SETS if len(s) == 2]
    assert len(left) == INFERENCE.folds == 4 and sorted(p for part, _ in left for p in part) == sorted(pairs)
    for (part, _), given in zip(left, kept.given, strict=True):
        assert given == [s for s in SETS if not any(set(p) <= set(s) for p in part)]
    assert kept.said == [("leaving tables out", k, 4) for k in range(1, 5)]
    assert [part for part, _ in fits()[0].left_out] == [part for part, _ in left]
    assert fits([("a",), ("a", "b")])[0].left_out == [], "one pair alone is not left out"


def test_pairs_alone_are_fitted_where_there_are_larger_tables():
    made, kept = fits()
    assert made.pairs_alone is not None and kept.given == [SETS[:-1]]
    assert fits(SETS[:-1])[0].pairs_alone is None


def test_a_system_that_cannot_refit_has_none():
    made, kept = fits(refit=False)
    assert (made.redrawn, made.totals, made.left_out, made.pairs_alone) == ([], [], [], None) and kept.said == []
