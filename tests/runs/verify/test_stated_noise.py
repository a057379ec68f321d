"""What a charge of Fourier coefficients pays for: as many tables as it has coefficients, each attribute set once."""

import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs.verify.stated_noise import _pays_views

SIGMA = 8.0
PAIRS = list(combinations("abcd", 2))
COEFFICIENTS = 1 + 4 + 6  # of no, one and two attributes


def charge(cells=COEFFICIENTS, *, kind="coefficients", each=1.0):
    return SimpleNamespace(
        kind=kind, mechanism="gaussian", cells=cells, sensitivity=each * math.sqrt(cells), scale=SIGMA
    )


def view(names, sigma=None, values=2):
    stated = SIGMA / 2 ** (len(names) / 2) if sigma is None else sigma
    return Measurement(attributes=tuple(names), values=np.zeros((values,) * len(names)), sigma=stated)


def pays(c, views, unit=None):
    return _pays_views(c, unit or Unit(), views)


def test_coefficients_pay_for_all_tables_that_they_give():
    assert pays(charge(), [view(p) for p in PAIRS])
    assert pays(charge(), [view("ab"), view("c"), view("d")])


@pytest.mark.parametrize(
    ("c", "views"),
    [
        (charge(COEFFICIENTS - 1), [view(p) for p in PAIRS]),
        (charge(), [view("ab"), view("ab")]),
        (charge(), [view("ab"), view("ba")]),
        (charge(kind="tables"), [view("ab")]),
        (charge(each=0.99), [view("ab")]),
        (charge(), [view("ab", values=3)]),
        (charge(), [view("ab", sigma=SIGMA / 2 * 0.99)]),
        (charge(3), [view("ab")]),
    ],
    ids=[
        "one too few",
        "twice",
        "twice turned",
        "kind",
        "sensitivity",
        "three values",
        "less noise",
        "fewer than cells",
    ],
)
def test_coefficients_do_not_pay_for_more(c, views):
    assert not pays(c, views)


def test_every_coefficient_of_an_individual_with_more_records_moves_more():
    assert not pays(charge(), [view("ab")], Unit(max_records=2))
    assert pays(charge(each=2.0), [view("ab")], Unit(max_records=2))
