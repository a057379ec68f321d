"""The settings of a run as one file: saved on three pages, put back on two, refused where they do not fit."""

import json

from dpsyn_core.runs.settings_file import RunSettings
from dpsyn_core.runs.spec import RunSpec
from tests.app.test_report import finished
from tests.app_driver import at_page, keys, space_of, uploaded, words
from ui.questions import kept
from ui.synthesize.settings_file import of_job
from ui.synthesize.starting import spec_of

ASKED = [{"name": "people by city", "kind": "table", "of": ["CITY"]}]


def made(schema, **changed):
    fields = {
        "epsilon": 0.35, "delta": 1e-7, "method": "dpsyn", "settings": {"pseudo_count": 0.5}, "n_records": 400,
        "seed": 23, "questions": ASKED,
    } | changed  # fmt: skip
    return RunSettings.of_run(RunSpec.of(**fields), schema)


def put(app, page, settings):
    text = settings if isinstance(settings, bytes) else settings.dumps().encode()
    if page == "privacy":
        app.segmented_control(key="privacy_part").set_value("settings").run()
    app.file_uploader(key=f"{page}_settings_upload").set_value(("settings.json", text, "application/json"))
    return app.run()


def changed_schema(space):
    document = space.schema.document()
    document["unit"] = {**document["unit"], "neighbours": "replace"}
    document["attributes"] = document["attributes"][:9]
    return type(space.schema).of(document)


def test_everything_is_put_back_from_the_privacy_page(app):
    at_page(app, "privacy")
    space = space_of(app)
    wanted = made(changed_schema(space), settings={})
    put(app, "privacy", wanted)
    assert not app.exception and not app.error
    assert app.text_input(key="epsilon").value == "0.35" and app.text_input(key="delta").value == "1e-7"
    assert app.radio(key="neighbours").value == "replace"
    assert space.schema == wanted.schema
    assert [n.document for n in kept.lines(space)] == ASKED
    run = spec_of(space)
    assert (run.epsilon, run.delta, run.method, run.n_records, run.seed) == (0.35, 1e-7, "dpsyn", 400, 23)
    assert "Put back: a schema of 9 columns, epsilon 0.35" in words(app)


def test_the_synthesize_page_shows_what_was_put_back(app):
    at_page(app, "synthesize")
    space = space_of(app)
    put(app, "synthesize", made(space.schema, method="rls", settings={"effort": 3.0}, questions_share=0.2))
    assert not app.exception and not app.error
    assert app.selectbox(key="method").value == "rls"
    assert app.number_input(key="n_records").value == 400 and app.number_input(key="seed").value == 23
    assert spec_of(space).settings == {"effort": 3.0} and spec_of(space).questions_share == 0.2
    app.run()
    assert spec_of(space).settings == {"effort": 3.0}, "the form keeps what the file says"


def test_settings_for_other_columns_are_refused_and_nothing_changes(app):
    uploaded(app)
    at_page(app, "privacy")
    space = space_of(app)
    before = space.schema
    document = json.loads(made(before, method="rls", settings={}, questions=None).dumps())
    next(a for a in document["schema"]["attributes"] if a["kind"] != "ignored")["name"] = "wage"
    put(app, "privacy", json.dumps(document).encode())
    assert "The table has no column 'wage'" in words(app).replace("\\", "")
    assert space.schema is before and space.choices.epsilon == 1.0
    put(app, "privacy", b"{]")
    assert any("not JSON" in e.value for e in app.error) and not app.exception


def test_the_file_of_the_sample_does_not_carry_the_visitors_name_on_the_ledger(app):
    at_page(app, "synthesize")
    assert "synthesize_settings_save" in keys(app.get("download_button"))
    space = space_of(app)
    from ui.synthesize.settings_file import _public

    assert space.dataset.ledger.startswith("sample-")
    assert _public(space, spec_of(space)).dataset is None


def test_a_finished_run_hands_out_the_settings_it_was_made_with(app):
    at_page(app, "synthesize")
    job = finished(app)
    space = space_of(app)
    found = RunSettings.loads(of_job(space, job).dumps())
    assert (found.run.epsilon, found.run.method, found.run.seed) == (job.spec.epsilon, job.spec.method, job.spec.seed)
    at_page(app, "export")
    assert "take_settings" in keys(app.get("download_button")) and not app.exception


def test_the_name_on_the_ledger_that_a_file_brings_is_said(app):
    uploaded(app, raw=b"a,b\n" + b"1,x\n2,y\n" * 40)
    space = space_of(app)
    at_page(app, "privacy")
    put(app, "privacy", made(space.schema, settings={}, questions=None, dataset="someone_else"))
    assert not app.exception and space_of(app).dataset.ledger == "someone_else"
    assert "charged under the name someone" in words(app).replace("\\", "")
