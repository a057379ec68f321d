"""Questions across links on the pages: from a form or a file, charged in the run, answered, and handed out."""

import io
import json
import zipfile

import pytest

from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.questions.document import Questions
from tests.app.linked_tables import PATIENTS, VISITS, asked, linked, with_files, with_sample
from tests.app.test_linked_runs import confirmed, made
from tests.app_driver import at_page, space_of, words
from ui.export.files import bundle, command
from ui.linked import files
from ui.privacy import plan
from ui.questions import expected
from ui.shared.text import percent
from ui.synthesize.starting import problem, spec_of

ASKED = {"version": 1, "questions": [
    {"about": "patients", "counts": {"in A": {"of": "visits", "where": "ward = A"}},
     "ask": {"name": "visits to A", "kind": "mean", "of": "in A", "by": ["sex"]}},
]}  # fmt: skip


@pytest.fixture
def hospital(app):
    """The app with patients and visits, whose schema is confirmed, on the Questions page."""
    with_files(app, patients=PATIENTS, visits=VISITS)
    confirmed(app)
    linked(app).links["visits"].max_children = 3
    return at_page(app, "questions")


def uploaded(app, document):
    """The app after a file of questions was handed over."""
    raw = json.dumps(document).encode()
    return app.file_uploader(key="questions_upload").set_value(("q.json", raw, "application/json")).run()


def test_questions_from_form_and_file_are_answered_and_handed_out(hospital, tmp_path):
    app = hospital
    assert not app.exception and not app.error
    app.button(key="linked_ask_keep").click().run()
    uploaded(app, ASKED)
    assert not app.exception and not app.error and "1 of 1 questions taken" in words(app)
    assert [q.name for q in asked(app)][1] == "visits to A"
    at_page(app, "privacy")
    assert "the question visits to A" in words(app) and not app.exception
    space_of(app).choices.epsilon = 20.0  # enough for an interval that has ends, of 40 patients
    job, space = made(app), space_of(app)
    charged = [c.name for c in Manifest.load(job.folder / "manifest.json").charges]
    assert any("in A" in name for name in charged), charged
    app.session_state["open_run"] = job.id
    at_page(app, "report")
    app.segmented_control(key="report_view_links").set_value("asked").run()
    assert not app.exception and not app.error
    assert "visits to A" in words(app) and " confidence, within the limits" in words(app)
    assert "reads private data" not in words(app)
    app.toggle(key="safe").set_value(True).run()
    assert "visits to A" in words(app), "answers are released values"
    at_page(app, "export")
    assert not app.exception and not app.error
    single, groups = files.answers(space, job)
    (figure,) = single["figures"]
    assert figure["low"] < figure["estimate"] < figure["high"] and len(groups["figures"]) == 2
    packed = zipfile.ZipFile(io.BytesIO(bundle(space, job)))
    assert json.loads(packed.read("answers.json")) == [single, groups]
    assert Questions.loads(packed.read("questions.json")).across == asked(app)
    assert "questions.json" in command(space, job)
    compile(packed.read("run.py"), "run.py", "exec")
    assert b"questions=" in packed.read("run.py")


@pytest.mark.parametrize(("kind", "figure"), [("mean", "quantile"), ("count", "gini"), ("own", "quantile")])
def test_the_form_asks_for_medians_and_gini_indices_of_children_and_parents(app, kind, figure):
    first, *rest = PATIENTS.splitlines()
    aged = [first + b",age", *(row + b",%d" % (20 + i // 2) for i, row in enumerate(rest))]
    with_files(app, patients=b"\n".join(aged), visits=VISITS)
    confirmed(app)
    at_page(app, "questions")
    app.selectbox[1].set_value(kind).run()
    next(s for s in app.selectbox if s.label == "figure").set_value(figure).run()
    app.button(key="linked_ask_keep").click().run()
    assert not app.exception and not app.error
    (question,) = asked(app)
    assert question.ask.kind == figure and question.about == ("visits" if kind == "mean" else "patients")
    assert question.ask.of == {"mean": "nr", "count": "number of visits", "own": "age"}[kind]


def test_a_changed_question_makes_the_run_one_of_other_settings(hospital):
    app = hospital
    app.button(key="linked_ask_keep").click().run()
    made(app)
    at_page(app, "data")
    assert "Settings changed since this run." not in words(app)
    at_page(app, "questions").button(key="question_remove_0").click().run()
    assert asked(app) == () and not app.exception
    at_page(app, "data")
    assert "Settings changed since this run." in words(app)


def test_a_question_of_a_file_that_does_not_fit_is_listed_with_the_reason_and_not_asked(hospital):
    app = hospital
    wrong = json.loads(json.dumps(ASKED).replace('"sex"', '"age"'))
    uploaded(app, wrong)
    assert "Not asked until it is mended" in words(app) and "is no column that it can name" in words(app)
    assert asked(app) == () and not app.exception
    one = [{"name": "by sex", "kind": "table", "of": ["sex"]}]
    uploaded(app, {"version": 1, "questions": one})
    assert "names no table, and 2 are loaded" in words(app) and asked(app) == () and not app.exception
    app.file_uploader(key="questions_upload").set_value(("q.json", b"{", "application/json")).run()
    assert "are not JSON" in words(app) and not app.exception


def test_a_question_that_no_longer_fits_is_left_out_of_the_run_and_the_pages_say_so(hospital):
    app = hospital
    uploaded(app, ASKED)
    part = linked(app).parts["visits"]
    document = part.schema.document()
    document["attributes"] = [a for a in document["attributes"] if a["name"] != "ward"]
    part.schema = type(part.schema).of(document)
    assert not problem(space_of(app)) and spec_of(space_of(app)).questions is None
    at_page(app, "synthesize")
    assert "1 of your questions do not fit the schema and are left out" in words(app) and not app.exception
    at_page(app, "questions")
    assert "Not asked until it is mended" in words(app) and not app.exception
    app.button(key="question_remove_0").click().run()
    assert "Not asked until it is mended" not in words(app) and not app.exception


def test_questions_are_suggested_across_each_link_and_of_each_table_and_fit(app):
    with_sample(app)
    at_page(app, "questions")
    offered = [b for b in app.button if b.key and b.key.startswith("question_add_")]
    assert "average, number of persons of one record of households" in offered[0].label
    assert all(any(f" {table}: " in b.label for b in offered) for table in ("households", "persons"))
    app.button(key=offered[-1].key).click().run()
    app.button(key="question_add_0").click().run()
    assert len(asked(app)) == 2 and "Not asked until" not in words(app) and not app.exception
    assert len([b for b in app.button if b.key and b.key.startswith("question_add_")]) == len(offered) - 2
    assert "households: The average number of persons of one record of households." in words(app)
    assert not problem(space_of(app))


def test_the_share_of_the_questions_is_chosen_and_decides_their_noise(hospital):
    app = hospital
    uploaded(app, ASKED)
    usual = expected.noise(space_of(app))["visits to A"]
    app.slider(key="questions_share").set_value(60).run()
    assert spec_of(space_of(app)).questions_share == 0.6 and not app.exception
    steps = plan.tree_steps(space_of(app), spec_of(space_of(app)).budget)
    (step,) = [s for s in steps if s.what == "question"]
    assert step.share == pytest.approx(0.6) and step.noise < usual
    assert f"±{step.noise:.3g} individuals" in words(app)
    at_page(app, "synthesize")
    assert f"for {percent(0.6, 0)} of the budget" in words(app) and not app.exception


def test_the_questions_page_speaks_german(hospital):
    app = hospital
    app.session_state["language"] = "de"
    uploaded(app, ASKED)
    assert "1 von 1 Fragen" in words(app) and not app.exception
    assert "Zahl von visits je Datensatz von patients" in str([s.options for s in app.selectbox])
