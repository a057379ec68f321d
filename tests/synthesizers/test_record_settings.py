"""Presets of the updates: what they set, and that a given value wins over them."""

import pytest

from dpsyn_core.errors import SettingError
from dpsyn_core.synthesizers.record_settings import PRESETS, RecordSettings
from dpsyn_core.synthesizers.registry import config_class, configure, names

UPDATED = [n for n in names() if issubclass(config_class(n), RecordSettings)]


@pytest.mark.parametrize("name", UPDATED)
@pytest.mark.parametrize("written", ["2018", 2018])
def test_the_preset_of_2018_sets_what_its_authors_describe(name, written):
    fit = configure(name, {"preset": written}).fit_settings()
    moves = fit.gum
    assert (moves.alpha, [moves.rate(t) for t in (0, 99)], moves.sweeps) == (0.2, [0.2, 0.2], 100)
    assert (moves.removal, moves.fill, fit.polish, fit.updater) == ("share", "close", 0, "gum")


@pytest.mark.parametrize("name", UPDATED)
def test_a_value_that_is_given_wins_over_the_preset_and_the_config_reads_back_as_it_is(name):
    config = configure(name, {"preset": "2018", "polish": 7})
    assert (config.polish, config.alpha) == (7, 0.2)
    assert configure(name, config.model_dump()) == config


@pytest.mark.parametrize("name", UPDATED)
def test_the_measured_preset_is_the_default(name):
    assert configure(name, {"preset": "measured"}) == configure(name, {})
    assert "measured" not in PRESETS


@pytest.mark.parametrize("name", ["dpsyn", "priview", "dpsyn-2018"])
def test_cells_grow_by_a_fifth_where_that_was_measured_to_be_best(name):
    assert configure(name, {}).alpha == 0.2


def test_an_unknown_preset_is_refused_by_name():
    with pytest.raises(SettingError, match=r"'preset'.*'measured' or '2018'"):
        configure("dpsyn", {"preset": 2020})
