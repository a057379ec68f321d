"""Presets of the updates: what they set, and that a given value wins over them."""

import numpy as np
import pytest

from dpsyn_core.errors import SettingError
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.others.record_settings import PRESETS, RecordConfig, RecordSettings, records_from
from dpsyn_core.systems.registry import UNPROTECTED, config_class, configure, names
from dpsyn_core.systems.settings import written

UPDATED = [n for n in names() if issubclass(config_class(n), RecordConfig)]


@pytest.mark.parametrize("name", UPDATED)
@pytest.mark.parametrize("written", ["2018", 2018])
def test_the_preset_of_2018_is_what_the_document_says_rate_fall_removal_and_copies(name, written):
    """Li, Zhang, Wang 2021: a rate of .2 (5.5), falling in steps (A.3), min(excess, beta n), copies (A.2)."""
    moves = configure(name, {"update.preset": written}).update
    assert [moves.rate(t) for t in (0, 19, 20, 40)] == pytest.approx([0.2, 0.2, 0.2 * 0.84, 0.2 * 0.84**2])
    assert (moves.removal, moves.fill, moves.polish, moves.updater) == ("share", "close", 0, "gum")
    assert moves.decay_curve == "step"
    assert moves.sweeps == configure(name, {}).update.sweeps  # of which the document says nothing


def test_a_column_on_one_pair_alone_is_appended_whatever_system_has_these_updates():
    """Appendix A.3: it follows its pair exactly, where one sweep of updates does not."""
    domain = Domain.of({"a": 2, "b": 2, "c": 3})
    pair = Measurement(attributes=("a", "b"), values=np.array([[450.0, 50.0], [50.0, 450.0]]), sigma=1.0)
    alone = Measurement(attributes=("c",), values=np.array([600.0, 300.0, 100.0]), sigma=1.0)
    moves, rng = RecordSettings(sweeps=1, polish=0), np.random.default_rng(0)
    codes = records_from([pair, alone], domain, 1000, moves, n_public=None, rng=rng)
    counts = np.zeros((2, 2))
    np.add.at(counts, (codes[0], codes[1]), 1)
    np.testing.assert_allclose(counts, pair.values, atol=2)


@pytest.mark.parametrize("name", UPDATED)
def test_a_value_that_is_given_wins_over_the_preset_and_the_config_reads_back_as_it_is(name):
    config = configure(name, {"update.preset": "2018", "update.polish": 7})
    assert (config.update.polish, config.update.alpha) == (7, 0.2)
    assert configure(name, config.model_dump()) == config


@pytest.mark.parametrize("name", UPDATED)
def test_the_measured_preset_is_the_default(name):
    assert configure(name, {"update.preset": "measured"}) == configure(name, {})
    assert "measured" not in PRESETS


@pytest.mark.parametrize("name", UPDATED)
def test_cells_grow_by_a_fifth_as_in_the_challenge(name):
    assert configure(name, {}).update.alpha == 0.2


def test_an_unknown_preset_is_refused_by_name():
    with pytest.raises(SettingError, match=r"'update.preset'.*'measured' or '2018'"):
        configure("dpsyn", {"update.preset": 2020})


@pytest.mark.parametrize("name", UPDATED)
def test_settings_of_updates_are_taken_in_every_form_in_which_documents_have_them(name):
    usual = configure(name, {}).update
    forms = (
        {"polish": 7},
        {"update.polish": 7},
        {"update": {"polish": 7}},
        {"update": {"polish": 7}, "sweeps": usual.sweeps},
    )
    for given in forms:
        config = configure(name, given)
        assert config.update == usual.model_copy(update={"polish": 7})
        assert written(given, type(config))["update.polish"] == 7
        assert config_class(name)(**given) == config


@pytest.mark.parametrize("given", [{"polish": 1, "update.polish": 2}, {"update": {"polish": 1}, "polish": 1}])
def test_a_setting_that_is_given_in_two_forms_is_refused(given):
    with pytest.raises(SettingError, match=r"'update.polish' is given twice; give each setting once"):
        configure("dpsyn", given)


def test_an_unknown_setting_of_updates_is_refused_with_those_that_are_known():
    for given in ({"update.polnish": 1}, {"update": {"polnish": 1}}):
        with pytest.raises(SettingError, match=r"unknown setting 'update.polnish' of dpsyn; known are .*update.polish"):
            configure("dpsyn", given)


def test_settings_of_updates_say_the_same_outside_a_system():
    assert RecordSettings(preset="2018").polish == 0


def test_settings_that_systems_share_stand_once():
    assert sum(len(config_class(n).model_fields) for n in (*names(), *UNPROTECTED)) <= 175
