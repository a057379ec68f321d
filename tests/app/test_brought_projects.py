"""A project from somebody else: its run hands on values alone, and no word of it names a place or runs in a shell."""

import json
import subprocess

import pyarrow as pa
import pytest

from dpsyn_core import synthesize
from dpsyn_core.errors import DPSynError, InputError
from dpsyn_core.estimate.marginals.released_file import pack_measurements
from dpsyn_core.files import home
from dpsyn_core.privacy.looks import remember, remembered
from dpsyn_core.runs.writer import Places, write_release
from dpsyn_core.schema.document import Schema
from tests.app.brought import JOB, packed, project
from tests.app_driver import at_page, space_of, words
from ui.data.projects import open_project, save
from ui.export import files
from ui.export.files import release
from ui.shared.state import attacks, jobs, workspaces

SECRET = b"name,diagnosis\nsomebody,secret\n"


def opened(app, raw):
    """The app of a visitor who opened this project on the Data page."""
    at_page(app, "data")
    app.file_uploader(key="project_open").set_value(("a.dpsyn.zip", raw, "application/zip")).run()
    assert not app.exception
    return app


def taken_out(app):
    """What Export's button of the release hands out for the newest run; nothing where there is no button."""
    space = space_of(app)
    at_page(app, "export")
    assert not app.exception
    return [release(space, job) for job in jobs().of(space.owner) if "export_release" in keys_of(app)]


def keys_of(app):
    return "".join(str(e.proto) for e in app.get("download_button"))


@pytest.mark.parametrize("place", ["absolute", "../../ledger.sqlite3", "../../owner.key"])
def test_export_hands_out_no_file_that_a_project_names(app, tmp_path, place):
    app.run()
    for name in ("ledger.sqlite3", "owner.key"):
        home().mkdir(exist_ok=True)
        (home() / name).write_bytes(SECRET)
    secret = tmp_path / "other visitor.csv"
    secret.write_bytes(SECRET)
    opened(app, project(release=str(secret) if place == "absolute" else place))
    assert all(SECRET not in content for content in taken_out(app))
    assert "diagnosis" not in words(app)


def test_the_attack_room_reads_no_file_that_a_project_names(app, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_bytes(SECRET)
    opened(app, project(whole=True, method="rls", public_table=str(secret)))
    at_page(app, "report")
    app.segmented_control(key="report_view").set_value("attack").run()
    app.button(key="attack_start").click().run()
    assert not app.exception
    assert "diagnosis" not in words(app) and "secret.csv" not in words(app)
    for job in attacks().of(space_of(app).owner):
        assert str(secret) not in (job.folder / "job.json").read_text("utf-8")
        attacks().cancel(job.id, space_of(app).owner)


def ran(script, folder):
    """What a shell says and makes of a script where `dpsyn` is a word that repeats its arguments."""
    fake = folder / "bin"
    fake.mkdir(exist_ok=True)
    (fake / "dpsyn").write_text("#!/bin/sh\nfor word; do printf '[%s]' \"$word\"; done\n", "utf-8")
    (fake / "dpsyn").chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", script], cwd=folder, env={"PATH": f"{fake}:/usr/bin:/bin"}, capture_output=True, check=False
    )
    return done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize(
    "changes",
    [
        {"maker": "rls; echo PWNED #"},
        {"maker": "$(touch pwned)"},
        {"method": "independent; touch pwned #", "release": None},
        {"where": "a = x' --out /tmp/x; touch pwned #"},
        {"dataset": "toy`touch pwned`"},
        {"columns": ["a'; touch pwned; '"]},
        {"settings": {"x; touch pwned": "$(touch pwned)"}, "release": None},
        {"n_records": "1; touch pwned", "release": None},
        {"seed": "1; touch pwned", "release": None},
    ],
)
def test_no_word_of_a_project_runs_in_a_shell_script(app, tmp_path, changes):
    app.run()
    opened(app, project(**({"release": "release.dpsyn"} | changes)))
    space = space_of(app)
    assert jobs().of(space.owner) or app.error, "a run, or a sentence that says why there is none"
    for job in jobs().of(space.owner):
        try:
            made = files.scripts(space, job)
        except DPSynError:  # a sentence instead of a script
            continue
        said, problem = ran(made["run.sh"], tmp_path)
        assert not (tmp_path / "pwned").exists() and "PWNED" not in said.replace("[rls; echo PWNED #]", "")
        assert "not found" not in problem
        assert ("run.py" in made) == (job.spec.release is None)
        compile(made.get("run.py", ""), "run.py", "exec")


def test_a_vouched_query_keeps_its_word_when_a_project_is_saved_with_its_table_and_opened_again(
    app, tmp_path, monkeypatch
):
    opened(app, project(whole=True))
    space = space_of(app)
    space.dataset.query_vouched = True
    remember(space.dataset.serial, "unit")
    saved = save(space, whole=True)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "another machine"))
    again = workspaces().find("somebody else")
    open_project(again, saved)
    assert again.dataset.query_vouched, "its runs state the owner's word"
    assert remembered(again.dataset.serial, "unit"), "that it was seen how many records people have is known too"
    assert not remembered(again.dataset.serial, "rules")
    open_project(third := workspaces().find("a third"), save(again, whole=False))
    assert third.dataset is None or not third.dataset.query_vouched


def test_a_run_that_states_the_owners_word_brings_it_with_its_table_from_a_project_of_an_earlier_version(app):
    app.run()
    open_project(space := workspaces().find("me"), project(whole=True, query_vouched=True))
    assert space.dataset.query_vouched


def test_a_project_of_an_earlier_version_opens_with_its_run(app):
    app.run()
    said = open_project(space := workspaces().find("me"), project(release="release.dpsyn", maker="rls", where="a = x"))
    [job] = jobs().of(space.owner)
    assert "1 runs" in said and (job.spec.maker, job.spec.where) == ("rls", "a = x")


def test_a_project_says_nothing_of_places(app):
    opened(app, project())
    text = save_text(space_of(app))
    names = set(json.loads(text)["runs"][0]["spec"])
    assert not names & {"release", "public_table", "table", "form", "seconds", "version"}
    assert names < set(JOB) | {"refit"}


def save_text(space):
    import io
    import zipfile

    return zipfile.ZipFile(io.BytesIO(save(space))).read("project.json").decode()


def test_a_project_with_a_part_beside_those_it_may_have_opens_without_it(app):
    app.run()
    raw = packed(
        {"version": 2, "dataset": "a", "ledger": "a"}, **{"../../x": b"x", "/etc/x": b"x", "runs/0/../x": b"x"}
    )
    open_project(workspaces().find("me"), raw)
    assert not list(home().rglob("x"))


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "no-such-system"},
        {"maker": "no-such-system"},
        {"settings": {"no_such_setting": 1}},
        {"questions": {"version": 1, "questions": [{"kind": "mean", "name": "x", "of": "no such column"}]}},
        {"release": "release.dpsyn", "rules": [{"kind": "impossible", "where": "no_such_column = 1"}]},
    ],
)
def test_a_project_whose_run_no_page_can_have_asked_for_is_refused_in_a_sentence(app, asked):
    app.run()
    with pytest.raises(InputError, match="run 1 of the project was asked for what no run takes"):
        open_project(workspaces().find("me"), project(**asked))


def test_a_refit_that_brings_the_release_of_another_run_is_refused(app, tmp_path):
    other = tmp_path / "other.dpsyn"
    schema = {"version": 1, "name": "toy", "attributes": [
        {"name": n, "kind": "categorical", "values": ["x", "y"], "source": "data"} for n in "ab"
    ]}  # fmt: skip
    table = {"a": ["x", "y"] * 50, "b": ["y", "x"] * 50}
    made = synthesize(pa.table(table), Schema.of(schema), epsilon=1, delta=1e-9, rng=1, method="independent")
    places = Places.of(tmp_path / "t.csv", release=other, private=False)
    write_release(made, places, measurements=pack_measurements(made.released, schema=made.schema))
    [kept] = tmp_path.glob("*.dpsyn")
    note = {"spec": JOB | {"release": "release.dpsyn"}, "label": "a run", "created": 1.0, "salt": "", "table": "",
            "own": False}  # fmt: skip
    document = {"version": 2, "dataset": "toy.csv", "ledger": "toy", "runs": [note]}
    app.run()
    with pytest.raises(InputError, match="brings the release of another run"):
        open_project(workspaces().find("me"), packed(document, **{"runs/0/release.dpsyn": kept.read_bytes()}))


def test_a_project_whose_packed_bytes_are_damaged_is_refused_in_a_sentence(app):
    raw = bytearray(project())
    at = raw.index(b"project.json") + len(b"project.json")
    raw[at : at + 8] = b"\xff" * 8
    app.run()
    with pytest.raises(InputError, match="no project, or is damaged"):
        open_project(workspaces().find("me"), bytes(raw))


def test_a_refit_whose_condition_holds_a_tab_is_saved_and_opened_again(app):
    opened(app, project(release="release.dpsyn", where="a =\tx"))
    again = workspaces().find("somebody else")
    open_project(again, save(space_of(app)))
    assert [job.spec.where for job in jobs().of(again.owner)] == ["a =\tx"]
