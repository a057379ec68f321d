"""Uses of the program, each in a folder of its own: `python -m tests.elsewhere.use NAME FOLDER`."""

import contextlib
import io
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path


def command(*words):
    """What the command prints; it has to end well."""
    from dpsyn_core.commands.cli import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = main(list(words))
    assert status == 0, (words, status)
    return said.getvalue()


def main_job(folder):
    """From the sample to a synthetic table, its report and its check."""
    from dpsyn_core import platforms

    os.chdir(folder)
    command("sample", "demo")
    schema = ("--schema", "demo/sample.schema.json")
    command(
        "synth", "demo/sample.csv", *schema, "--epsilon", "1", "--delta", "1e-9", "--n-records", "500", "--quiet",
        "--out", "s.csv", "--manifest", "m.json",
    )  # fmt: skip
    command("report", "demo/sample.csv", "s.csv", *schema, "--json", "r.json", "--metrics", "tvd-1way")
    command("verify", "s.csv", "--manifest", "m.json")
    assert "sample" in command("ledger")
    stated = json.loads(Path("m.json").read_text("utf-8"))["versions"]["system"]
    assert stated == platforms.line()
    left = {p.name for p in Path().iterdir()}
    assert left == {"demo", "s.csv", "m.json", "r.json", "home"}, left
    return stated


def stored(folder):
    """The same with codes on disk: the scratch folder is empty afterwards."""
    os.chdir(folder)
    command("sample", "demo")
    command(
        "synth", "demo/sample.csv", "--schema", "demo/sample.schema.json", "--epsilon", "1", "--delta", "1e-9",
        "--method", "independent", "--engine", "stored", "--quiet", "--out", "S.csv", "--manifest", "m.json",
    )  # fmt: skip
    assert not list(Path(os.environ["DPSYN_HOME"], "scratch").iterdir())
    return "no code is left"


def caseless(folder):
    """Names of two cases are one file: a table is not written over the table that it is made from."""
    from dpsyn_core.data import FOLDER
    from dpsyn_core.errors import SchemaError
    from dpsyn_core.files import same_path
    from dpsyn_core.schema.linked import LinkedSchema

    os.chdir(folder)
    command("sample", "demo")
    assert same_path(Path("demo/sample.csv"), Path("demo/SAMPLE.csv"))
    document = json.loads((FOLDER / "households.schema.json").read_text("utf-8"))
    for name in ("AUX", "a:b", document["tables"][0]["name"].upper()):
        wrong = json.loads(json.dumps(document))
        wrong["tables"][-1]["name"] = name
        try:
            LinkedSchema.of(wrong)
        except SchemaError:
            continue
        raise AssertionError(name)
    return "one file"


def charge(path, barrier, results):
    """One of several processes that want the last of a budget."""
    from dpsyn_core.errors import LedgerError
    from dpsyn_core.privacy import Budget, Ledger, Unit

    one = Budget(epsilon=1.0, delta=1e-9)
    barrier.wait()
    try:
        results.put(
            Ledger(path).reserve("census", one.gaussian(), budget=one, unit=Unit(), method="independent").run_id
        )
    except LedgerError as error:
        results.put("refused" if "limit" in str(error) else str(error))


def race(folder):
    """Of four processes that want the last of a budget one gets it."""
    from dpsyn_core.privacy import Budget, Ledger

    path = folder / "Ledger.sqlite3"
    Ledger(path).set_limit("census", Budget(epsilon=1.0, delta=1e-9))
    context = multiprocessing.get_context()
    assert context.get_start_method() == "spawn"
    barrier, results = context.Barrier(4), context.SimpleQueue()
    runners = [context.Process(target=charge, args=(path, barrier, results)) for _ in range(4)]
    for runner in runners:
        runner.start()
    got = [results.get() for _ in runners]
    for runner in runners:
        runner.join()
    assert got.count("refused") == 3, got
    assert [e.run_id for e in Ledger(path).entries()] == [g for g in got if g != "refused"]
    return "one of four"


def jobs(folder):
    """One run of the app that ends, one that is cancelled, and one whose time is over."""
    from dpsyn_core.data import paths
    from dpsyn_core.runs import JobSpec
    from dpsyn_core.schema import Schema
    from dpsyn_core.tables import read_table
    from ui.shared.jobs import Jobs

    place, schema = paths("sample")
    table, schema = read_table(place), Schema.load(schema)
    made = Jobs(folder / "Jobs")

    def begun(**more):
        spec = JobSpec(
            epsilon=1.0, delta=1e-9, method="independent", seed=1, dataset="toy", query_vouched=False, **more
        )
        return made.start("me", spec, schema, table, label="toy", fingerprint="f")

    def until(met):
        end = time.monotonic() + 200
        while not met():
            assert time.monotonic() < end
            time.sleep(0.05)

    done = begun(n_records=500)
    until(lambda: not done.live)
    assert done.state == "done", done.failure()
    long = begun(n_records=90_000_000)
    until(lambda: long.progress())
    made.cancel(long.id, "me")
    assert long.state == "cancelled" and long.process.poll() is not None
    late = begun(n_records=90_000_000, seconds=1, memory_mb=64_000)
    until(lambda: not late.live)
    assert "limit of 1 s" in late.failure(), (late.failure(), late.process.returncode)
    for job in (done, long, late):
        until(lambda job=job: not (job.folder / "table.parquet").exists())
        made.remove(job.id, "me")
        assert not job.folder.exists()
    return "done, cancelled, late"


def app(folder):
    """The first walk: the sample is loaded, a run ends, and its report is read."""
    import streamlit as st
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.testing.v1 import AppTest, app_test

    from tests.app_driver import at_page, words
    from ui.shared import serving
    from ui.shared.state import jobs as registry

    class Served(PagesManager):
        """A server that has been asked before, see tests/conftest.py."""

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            PagesManager.uses_pages_directory = False

    app_test.PagesManager = Served
    serving.prepare = lambda: None  # a thread that loads what later pages need
    st.cache_resource.clear()
    walk = AppTest.from_file(str(Path(__file__).resolve().parents[2] / "app.py"), default_timeout=300).run()
    assert "Simulated census" in words(walk)
    at_page(walk, "synthesize")
    walk.selectbox(key="method").set_value("independent").run()
    walk.button(key="synthesize").click().run()
    owner, end = walk.session_state["owner"], time.monotonic() + 200
    while any(job.live for job in registry().of(owner)):
        assert time.monotonic() < end
        time.sleep(0.05)
    made = registry().of(owner)[0]
    assert made.state == "done", made.failure()
    for page in ("synthesize", "report", "export"):
        at_page(walk, page)
        assert not walk.exception and not walk.error, page
    return "walked"


USES = {f.__name__: f for f in (main_job, stored, caseless, race, jobs, app)}

if __name__ == "__main__":
    folder = Path(sys.argv[2])
    os.environ["DPSYN_HOME"] = str(folder / "home")
    os.environ["DPSYN_WARM_UP"] = "0"
    print(USES[sys.argv[1]](folder))
