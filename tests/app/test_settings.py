"""The form of a system's settings: one widget a setting, also for settings that several systems share."""

import json

from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.settings import fields_of
from tests.app_driver import at_page
from ui.shared.state import workspaces


def test_settings_of_updates_have_a_widget_each_and_keep_what_an_older_project_says(app):
    at_page(app, "synthesize")
    space = workspaces().find(app.session_state["owner"])
    space.choices.settings["dpsyn"] = {"polish": 7, "max_cells": 9_000_000}
    app.selectbox(key="method").set_value("dpsyn").run()
    assert not app.exception
    assert app.number_input(key="setting.dpsyn.update.polish").value == 7
    app.selectbox(key="setting.dpsyn.update.updater").set_value("mcf").run()
    got = space.choices.settings["dpsyn"]
    assert got == {"update.updater": "mcf", "update.polish": 7, "max_cells": 9_000_000}
    config = configure("dpsyn", json.loads(json.dumps(got)))
    assert (config.update.updater, config.update.polish, config.max_cells) == ("mcf", 7, 9_000_000)
    keys = {w.key for kind in (app.number_input, app.selectbox) for w in kind}
    assert {f"setting.dpsyn.{name}" for name in fields_of(type(config))} <= keys
