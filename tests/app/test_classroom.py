"""A server for a class: the labs alone, nothing to upload, nothing to run, nothing to spend."""

import os

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import DPSynError
from tests.app_driver import words
from ui.data.reading import Readers
from ui.learn import LABS
from ui.shared.access import CLASSROOM
from ui.shared.jobs import Jobs
from ui.shared.text import catalogue


@pytest.fixture
def pupil(app, monkeypatch):
    """The app as a class sees it."""
    monkeypatch.setenv(CLASSROOM, "1")
    return app


def test_the_address_of_a_class_opens_the_labs_and_offers_nothing_else(pupil):
    pupil.run()
    assert not pupil.exception
    assert catalogue()["learn.title"] in words(pupil)
    assert not pupil.get("file_uploader") and not pupil.sidebar.children
    assert "side.spent" not in words(pupil) and catalogue()["side.safe"] not in words(pupil)


def runs(app):
    """Buttons of the page but for those of the guess and those that lead to another lab."""
    return [b for b in app.button if not str(b.key).startswith(("card_", "guess_", "learn_"))]


def test_a_class_compares_systems_by_runs_made_beforehand(pupil):
    pupil.query_params.update({"lab": "race", "open": "1"})
    pupil.run()
    assert not pupil.exception and not runs(pupil)
    assert catalogue()["learn.race.beforehand"] in words(pupil)
    pupil.session_state["lab"] = "budgets"
    pupil.query_params["open"] = "1"
    pupil.run()
    assert not pupil.exception and not runs(pupil)


def test_a_server_for_a_class_runs_and_reads_nothing_whoever_asks(tmp_path, monkeypatch):
    monkeypatch.setenv(CLASSROOM, "1")
    with pytest.raises(DPSynError, match="class"):
        Jobs(tmp_path).start("somebody", None, None, None, label="", fingerprint="")
    with pytest.raises(DPSynError, match="class"):
        Readers(tmp_path).read(None, b"a,b\n1,2\n")


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
def test_every_lab_can_be_pinned_in_a_class(pupil, lab):
    pupil.query_params.update({"lab": lab, "pin": "1", "open": "1"})
    pupil.run()
    assert not pupil.exception and not pupil.error
    assert catalogue()[f"learn.{lab}.question"] in words(pupil)
    assert not [b for b in pupil.button if b.key in ("learn_shelf", "learn_next")]


def test_the_command_serves_a_class_without_uploads_and_without_compiling(monkeypatch):
    started = []
    monkeypatch.setattr(os, "execv", lambda _, command: started.append(command))
    monkeypatch.setattr(os, "chdir", lambda _: None)
    for name in (CLASSROOM, "DPSYN_WARM_UP"):
        monkeypatch.setenv(name, "0")  # so that what the command sets is undone after the test
    assert main(["app", "--class", "--no-browser", "--host", "class.example.org"]) == 0
    options = dict(zip(started[0], started[0][1:], strict=False))
    assert options["--server.maxUploadSize"] == "0"
    assert options["--server.allowedHosts"] == "class.example.org"
    assert os.environ[CLASSROOM] == "1" and os.environ["DPSYN_WARM_UP"] == "0"


def test_a_host_is_named_for_a_class_alone(capsys):
    assert main(["app", "--host", "10.0.0.7"]) != 0
    assert "--class" in capsys.readouterr().err
