"""Linked tables take what one table takes: choice of system, settings as one file, forecasts, refits."""

import json

import pytest

from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.settings_file import RunSettings
from tests.app.linked_tables import PATIENTS, VISITS, asked, linked, with_files, with_panel, with_shop
from tests.app.test_jobs import ended
from tests.app.test_linked_questions import ASKED
from tests.app.test_linked_runs import confirmed, made
from tests.app_driver import at_page, space_of, words
from ui.export import files
from ui.questions import kept
from ui.shared import results
from ui.shared.state import attacks, jobs
from ui.synthesize.settings_file import of_job
from ui.synthesize.starting import problem, spec_of


@pytest.fixture
def hospital(app):
    """The app with patients and visits, whose schema is confirmed."""
    with_files(app, patients=PATIENTS, visits=VISITS)
    confirmed(app)
    linked(app).links["visits"].max_children = 3
    return app


def put(app, page, settings):
    """The app after a file of settings was handed over on a page."""
    at_page(app, page)
    if page == "privacy":
        app.segmented_control(key="privacy_part").set_value("settings").run()
    text = settings if isinstance(settings, bytes) else settings.dumps().encode()
    field = app.file_uploader(key=f"{page}_settings_upload")
    return field.set_value(("settings.json", text, "application/json")).run()


def test_systems_that_keep_keys_are_offered_and_one_is_run_and_repeated(hospital):
    at_page(hospital, "synthesize")
    assert hospital.selectbox(key="method").options == ["rls: record least squares (recommended)", "independent"]
    hospital.selectbox(key="method").set_value("independent").run()
    assert not hospital.exception and not hospital.error
    job, space = made(hospital), space_of(hospital)
    assert results.manifest(space, job)["settings"]["system"] == "independent"
    command = files.command(space, job)
    assert command[command.index("--method") + 1] == "independent"
    at_page(hospital, "export")
    assert not hospital.exception and not hospital.error
    script = files.scripts(space, job)["run.py"]
    assert "method='independent'" in script and "settings=" not in script
    compile(script, "run.py", "exec")


def test_a_system_of_one_table_is_not_carried_over_to_linked_tables(app):
    at_page(app, "synthesize")
    app.selectbox(key="method").set_value("mst").run()
    app.number_input(key="n_records").set_value(500).run()
    at_page(app, "data")
    with_files(app, patients=PATIENTS, visits=VISITS)
    at_page(app, "synthesize")
    assert not app.exception and not app.error
    run = spec_of(space_of(app))
    assert run.method == "rls" and run.n_records is None, "500 records of one table are not 500 patients"
    assert app.number_input(key="n_records").label == "records of patients to make"


def test_privacy_draws_where_the_budget_goes(hospital):
    at_page(hospital, "privacy")
    assert "patients: its columns, and how many children of which kind" in words(hospital)
    assert "visits: children, with their parent" in words(hospital) and "individuals per cell" in words(hospital)
    assert not hospital.exception and not hospital.error


@pytest.mark.parametrize("page", ["privacy", "synthesize"])
def test_everything_is_put_back_from_a_file_of_settings(hospital, page):
    app, space = hospital, space_of(hospital)
    kept.put(space, ASKED["questions"][0])
    space.choices.epsilon, space.choices.n_records, space.choices.questions_share = 0.5, 70, 0.25
    space.choices.settings["rls"] = {"effort": 2.0}
    saved = RunSettings.of_run(spec_of(space), space.kept_schema)
    assert saved.private and saved.file_name == "settings.json"
    linked(app).links["visits"].max_children = 8
    space.choices.epsilon, space.choices.n_records, space.choices.questions_share = 2.0, None, None
    space.choices.settings["rls"] = {}
    kept.remove(space, "visits to A")
    put(app, page, saved)
    assert not app.exception and not app.error
    assert "Put back: a schema of 5 columns, epsilon 0.5" in words(app) and "questions: 1" in words(app)
    again = spec_of(space)
    assert (again.epsilon, again.n_records, again.questions_share) == (0.5, 70, 0.25)
    assert again.settings == {"effort": 2.0} and [q.name for q in asked(app)] == ["visits to A"]
    assert linked(app).schema() == saved.schema and linked(app).links["visits"].max_children == 3
    at_page(app, "synthesize")
    assert app.number_input(key="n_records").value == 70 and not app.exception


def test_settings_of_other_tables_are_refused_and_nothing_changes(hospital):
    app, space = hospital, space_of(hospital)
    before = linked(app).schema()
    saved = RunSettings.of_run(spec_of(space), before)
    other = json.loads(saved.dumps().replace('"ward"', '"bed"'))
    put(app, "privacy", json.dumps(other).encode())
    assert "Table 'visits' has no column 'bed'" in words(app) and not app.exception
    assert linked(app).schema() == before
    single = next(p.schema for p in linked(app).parts.values())
    one = RunSettings.of_run(spec_of(space).model_copy(update={"linked": ()}), single)
    put(app, "privacy", one)
    assert "The settings are of one table, and 2 linked ones are loaded" in words(app) and not app.exception
    space.linked = None
    put(app, "privacy", saved)
    assert "describes 2 linked tables, and one table is loaded" in words(app) and not app.exception


def test_the_settings_of_the_sample_do_not_carry_the_visitors_name_on_the_ledger(app):
    app.run()
    app.segmented_control(key="data_way").set_value("linked").run()
    app.button(key="linked_sample").click().run()
    job = made(app)
    assert of_job(space_of(app), job).run.dataset is None


@pytest.mark.parametrize("load", [with_shop, with_panel])
def test_a_run_is_made_again_from_its_release_and_nothing_is_charged(app, load):
    load(app)
    if linked(app).panel is not None:
        panel = linked(app).panel
        panel.person, panel.wave, panel.constant, panel.most = "person", "year", ("sex",), 3
    confirmed(app)
    job, space = made(app), space_of(app)
    charged = len(Ledger().entries(linked(app).ledger))
    at_page(app, "export")
    assert not app.exception and not app.error and files.reusable(job)
    app.toggle(key="export_refits").set_value(True).run()
    assert "those that meet it stay, with all that hangs on them" in words(app) and not app.exception
    app.number_input(key="export_refit_seed").set_value(job.spec.seed).run()
    app.button(key="export_refit_start").click().run()
    again = ended(jobs().of(space.owner)[0])
    assert again.state == "done", again.failure()
    assert again.id != job.id and again.spec.release and len(Ledger().entries(linked(app).ledger)) == charged
    first, second = results.tables(space, job), results.tables(space, again)
    assert {n: t.to_pydict() for n, t in first.items()} == {n: t.to_pydict() for n, t in second.items()}
    assert results.holds(space, again) and results.manifest(space, again)["refit"]
    app.session_state["open_run"] = again.id
    for page in ("report", "export"):
        at_page(app, page)
        assert not app.exception and not app.error, page
    assert files.command(space, again)[:3] == ["dpsyn", "refit", "RELEASE.dpsyn"]
    script = files.scripts(space, again)
    assert list(script) == ["run.sh"] and "nothing is charged" in script["run.sh"]
    assert not [b for b in app.get("download_button") if b.proto.label in ("Python script", "Save settings")]
    assert files.release(space, again) == files.release(space, job)


def test_a_refit_keeps_some_columns_of_the_roots_that_meet_a_condition(app):
    with_shop(app)
    confirmed(app)
    job, space = made(app), space_of(app)
    at_page(app, "export")
    app.toggle(key="export_refits").set_value(True).run()
    app.multiselect(key="export_refit_columns").set_value(["customers.kind", "orders.way"]).run()
    app.button(key="export_refit_start").click().run()
    assert "No column of 'lines' is kept" in app.error[0].value
    app.multiselect(key="export_refit_columns").set_value(["customers.kind", "orders.way", "lines.item"]).run()
    app.text_input(key="export_refit_where").set_value("kind = old").run()
    app.button(key="export_refit_start").click().run()
    assert not app.exception and not app.error
    again = ended(jobs().of(space.owner)[0])
    assert again.state == "done", again.failure()
    tables = results.tables(space, again)
    assert set(tables["customers"].column("kind").to_pylist()) == {"old"}
    assert tables["lines"].column_names == ["line_id", "order_id", "item"] and results.holds(space, again)
    app.session_state["open_run"] = again.id
    for page in ("report", "export"):
        at_page(app, page)
        assert not app.exception and not app.error, page
    assert files.command(space, again)[3:5] == ["--where", "kind = old"]
    at_page(app, "report")
    app.segmented_control(key="report_view_links").set_value("attack").run()
    app.button(key="attack_start").click().run()
    assert not app.exception and not app.error
    attack = attacks().of(space.owner)[0]
    assert set(attack.spec.linked) == {"customers", "orders", "lines"} and attack.state in ("queued", "running", "done")
    attacks().cancel(attack.id, space.owner)
    assert results.holds(space, job)


@pytest.mark.parametrize("load", [with_shop, with_panel])
def test_errors_of_linked_tables_are_forecast_and_lead_to_an_epsilon(app, load):
    load(app)
    if linked(app).panel is not None:
        panel = linked(app).panel
        panel.person, panel.wave, panel.constant, panel.most = "person", "year", ("sex",), 3
    confirmed(app)
    schema = linked(app).declared()
    at_page(app, "privacy")
    assert not app.exception and not app.error
    assert f"about how many records of {schema.root.name}?" in {f.label for f in app.number_input}
    first = words(app)
    assert all(table.name in first for table in schema.tables) and "Expected error before spending" in first
    app.segmented_control(key="privacy_part").set_value("backwards").run()
    assert not app.exception and not app.error
    button = app.button(key="backwards_take")
    epsilon = button.label.removeprefix("Take epsilon ")
    button.click().run()
    assert not app.exception and space_of(app).choices.epsilon == float(epsilon)
    app.segmented_control(key="backwards_way").set_value("gain").run()
    assert not app.exception and "guesses right at most 55 times in 100" in words(app)


def test_a_run_of_linked_tables_learns_from_a_public_table_of_its_root(app):
    with_files(
        app,
        patients=b"patient_id,sex,smokes\n"
        + b"".join(b"%d,%s,%s\n" % (i, (b"f", b"m")[i % 2], (b"y", b"n")[i % 3 // 2]) for i in range(40)),
        visits=VISITS,
    )
    confirmed(app)
    space = space_of(app)
    at_page(app, "synthesize")
    assert "The file has columns of patients" in words(app)
    private = app.file_uploader(key="public_table")
    private.set_value(("p.csv", b"ward,nr\nA,1\n", "text/csv")).run()
    assert problem(space), "columns of another table are refused"
    app.button(key="public_table_forget").click().run()
    last = b"sex,smokes\n" + b"f,y\nm,n\n" * 100
    app.file_uploader(key="public_table").set_value(("last year.csv", last, "text/csv")).run()
    assert not app.exception and not app.error and not problem(space)
    job = made(app)
    used = results.manifest(space, job)["public_table"]
    assert used["n_records"] == 200 and used["name"].endswith("last_year.csv")
    assert "patients=PUBLIC_patients.csv" in files.command(space, job)
    app.session_state["open_run"] = job.id
    at_page(app, "report")
    app.segmented_control(key="report_view_links").set_value("attack").run()
    app.button(key="attack_start").click().run()
    assert not app.exception and "shadow runs learn from none" in app.error[0].value


@pytest.mark.slow
def test_a_marginal_of_one_of_linked_tables_is_for_all_records_of_a_root(hospital):
    at_page(hospital, "synthesize")
    chooser = next(c for c in hospital.segmented_control if c.key and c.key.startswith("answers_table"))
    chooser.set_value("visits").run()
    field = next(m for m in hospital.multiselect if m.key.startswith("answers") and m.key.endswith("_columns"))
    assert "ward" in field.options and "patient_id" not in field.options
    field.set_value(["ward"]).run()
    hospital.button(key="answers_release_marginals").click().run()
    assert not hospital.exception and not hospital.error
    (made,) = space_of(hospital).memo[("alone", "visits")]["answers_marginals"][1:]
    assert made.manifest.identifier == "patient_id" and made.manifest.max_records == 3 and made.manifest.private
    (booked,) = Ledger().entries(linked(hospital).ledger)
    assert booked.method == "priview"
    next(c for c in hospital.segmented_control if c.key == chooser.key).set_value("patients").run()
    assert not hospital.exception and not hospital.error


def test_records_that_do_not_name_their_root_are_not_released_alone(app):
    with_shop(app)
    confirmed(app)
    at_page(app, "synthesize")
    chooser = next(c for c in app.segmented_control if c.key and c.key.startswith("answers_table"))
    chooser.set_value("lines").run()
    assert not app.exception and "ask for it as a question across links" in words(app)


def test_individuals_of_a_panel_are_called_persons_and_not_after_the_file(app):
    with_panel(app)
    panel = linked(app).panel
    panel.person, panel.wave, panel.constant, panel.most = "person", "year", ("sex",), 3
    at_page(app, "synthesize")
    assert app.number_input(key="n_records").label == "records of persons to make"
    assert "The file has columns of persons" in words(app) and not app.exception
