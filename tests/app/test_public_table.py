"""A public table in the app: uploaded on Synthesize, checked there, and learnt from by the run in its own process."""

import gzip
import hashlib

import pytest

from dpsyn_core.data import paths
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.jobs.folder import MANIFEST
from tests.app.test_jobs import SCHEMA, TABLE, ended, home, spec, start  # noqa: F401 home is a fixture
from tests.app_driver import GOOD, at_page, space_of, uploaded, words
from ui.shared.jobs import Jobs
from ui.synthesize.starting import problem

LAST = b"a,b\n" + b"x,1\ny,2\n" * 100


def give(app, content, name="last year.csv"):
    return app.file_uploader(key="public_table").set_value((name, content, "text/csv")).run()


@pytest.mark.usefixtures("home")
def test_a_job_learns_from_a_file_of_its_folder_and_its_manifest_names_it():
    jobs = Jobs()
    asked = spec(method="rls", public_table="public-last.csv")
    made = ended(jobs.start("me", asked, SCHEMA, TABLE, label="toy", fingerprint="f", files={"public-last.csv": LAST}))
    assert made.state == "done", made.failure()
    used = Manifest.load(made.folder / MANIFEST).public_table
    assert used is not None and used.name == "public-last.csv" and used.n_records == 200
    assert used.sha256 == hashlib.sha256(LAST).hexdigest()


@pytest.mark.usefixtures("home")
def test_a_job_without_one_says_nothing_of_it():
    made = ended(start(Jobs(), method="rls"))
    assert Manifest.load(made.folder / MANIFEST).public_table is None


def test_an_upload_is_kept_named_and_forgotten_again(app):
    at_page(app, "synthesize")
    sample = paths("sample")[0].read_bytes()
    give(app, sample, "the sample.csv")
    space = space_of(app)
    assert "is the private table itself" in problem(space), "as it was written it is another file"
    app.button(key="public_table_forget").click().run()
    text = gzip.decompress(sample)
    give(app, text[: text.rindex(b"\n", 0, -1) + 1], "last year.csv")
    assert space.public is not None and space.public.file.endswith("last_year.csv")
    assert "learns from last year.csv" in words(app)
    assert problem(space) == ""
    app.button(key="public_table_forget").click().run()
    assert space.public is None


def test_a_file_of_other_columns_is_refused_and_no_run_starts(app):
    at_page(app, "synthesize")
    give(app, GOOD)
    assert "which the schema does not describe" in "\n".join(str(e.value) for e in app.error)
    assert app.button(key="synthesize").disabled


def test_the_private_upload_itself_is_refused(app):
    uploaded(app)
    space = space_of(app)
    assert space.dataset.raw == GOOD
    at_page(app, "synthesize")
    give(app, GOOD)
    assert space.public is None
    assert "is the private table itself" in "\n".join(str(e.value) for e in app.error)


def test_a_public_table_is_refused_that_is_loaded_as_the_private_one_afterwards(app):
    at_page(app, "synthesize")
    give(app, GOOD)
    at_page(app, "data")
    uploaded(app)
    space = space_of(app)
    assert space.dataset.raw == GOOD and space.public is not None
    assert "is the private table itself" in problem(space)


def test_systems_that_cannot_use_one_do_not_ask_for_it(app):
    at_page(app, "synthesize")
    app.selectbox(key="method").set_value("independent").run()
    assert "public_table" not in [f.key for f in app.file_uploader]
