"""The ablation of `rls`: mechanisms can be taken out, none stays replaced, and a missing one is an error."""

import numpy as np
import pytest

from benchmarks.ablation import changes, data_of, rows_of
from benchmarks.ablation_parts import OF_TARGETS, PARTS, Part, watched, without
from dpsyn_core.systems.rls import system


@pytest.mark.parametrize("name", PARTS)
def test_every_mechanism_can_be_taken_out_and_comes_back(name):
    called = set()
    with watched([*PARTS[name].instead], called), without(PARTS[name]):
        pass
    assert not called
    assert PARTS[name].measuring or PARTS[name].making


def test_a_function_that_is_gone_is_an_error_and_leaves_the_engine_as_it_was():
    before = system.place_numbers
    gone = {f"{system.__name__}.place_numbers": lambda *_: None, f"{system.__name__}.never_there": lambda *_: None}
    with pytest.raises(AttributeError, match="never_there"), without(Part(making=True, instead=gone)):
        pass
    assert system.place_numbers is before


def test_a_run_without_what_it_does_not_use_is_the_same_and_without_evening_another():
    found = changes(data_of("tree-300x5"), 1.0, 0, {name: PARTS[name] for name in ("placing", "evening")})
    assert not found["placing"].any()
    assert found["evening"].any()


def test_changes_beyond_their_noise_and_one_per_cent_are_bold():
    steady, noisy = np.log(1.05) + np.zeros(3), np.log([0.9, 1.2, 1.1])
    found = np.array([steady, noisy, np.zeros(3)])[:, None, None, :]
    assert rows_of([found], ["a", "b", "c"]) == [["a", "**+5.0**"], ["b", "+5.9"], ["3 standard errors", "12.8"]]
    assert set(OF_TARGETS) <= set(PARTS)
