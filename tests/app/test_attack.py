"""The attack room on the Report page: started, watched, cancelled and read by its owner, and gone in safe mode."""

import time

import pytest

from dpsyn_core.child import Child
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.attacks.result import AttackSpec
from tests.app.test_report import finished
from tests.app_driver import at_page, plots, words
from ui.shared import jobs as module
from ui.shared.jobs import Jobs


def ended(job, seconds=300):
    deadline = time.monotonic() + seconds
    while job.live:
        assert time.monotonic() < deadline, job.progress()
        time.sleep(0.05)
    return job


def test_an_attack_is_a_job_with_its_own_worker_that_is_cancelled_and_taken_up_as_any_other(tmp_path, monkeypatch):
    import sys

    from tests.runs.attacks import small

    started = []

    def spawn(argument, cwd, worker="none"):
        started.append(worker)
        return Child([sys.executable, "-c", "import time; time.sleep(600)"], cwd=cwd)

    monkeypatch.setattr(module, "spawn", spawn)
    registry = Jobs(tmp_path / "attacks", parallel=1, worker="dpsyn_core.runs.attacks.attack", spec=AttackSpec)
    asked = small.spec("membership", 10)
    job = registry.start(
        "me", asked, small.schema(), small.table(), label="x", fingerprint="f", public={"run": "r"}
    )  # fmt: skip
    assert started == ["dpsyn_core.runs.attacks.attack"] and job.state == "running"
    registry.cancel(job.id, "me")
    assert job.state == "cancelled" and not (job.folder / asked.table).exists()
    again = Jobs(tmp_path / "attacks", parallel=1, worker="dpsyn_core.runs.attacks.attack", spec=AttackSpec)
    [kept] = again.of("me")
    assert kept.spec == asked and kept.public["run"] == "r"


@pytest.mark.slow
def test_the_attack_room_says_what_was_found_beside_the_promise_and_books_nothing(app):
    from ui.shared.state import attacks

    app.run()
    finished(app)
    at_page(app, "report")
    app.segmented_control(key="report_view").set_value("attack").run()
    assert not app.exception and "A failed attack proves nothing" in words(app)
    booked = len(Ledger().entries())
    for kind in ("membership", "inference"):
        app.segmented_control(key="attack_kind").set_value(kind).run()
        app.selectbox(key=f"attack_records_{kind}").set_value(500).run()
        app.selectbox(key=f"attack_runs_{kind}").set_value(20 if kind == "membership" else 10).run()
        app.button(key="attack_start").click().run()
        assert not app.exception and not app.error
        job = attacks().of(app.session_state["owner"])[0]
        assert ended(job).state == "done", job.failure()
        app.run()
        told = words(app)
        assert not app.exception and "practice data" in told
        assert "epsilon that was promised" in told and "nothing is booked on the ledger" in told
    assert "Area under the curve" not in told and "on the control group" in told
    app.segmented_control(key="attack_kind").set_value("membership").run()
    assert len(plots(app)[0]["data"]) == 4
    assert len(Ledger().entries()) == booked
    app.toggle(key="safe").set_value(True).run()
    assert "Attacks on this system" not in words(app) and not app.exception


@pytest.mark.slow
def test_linked_tables_are_attacked_as_one_table_is_and_nothing_private_stays(app):
    from tests.app.linked_tables import with_shop
    from tests.app.test_linked_runs import confirmed, made
    from ui.shared.state import attacks

    with_shop(app)
    confirmed(app)
    app.session_state["open_run"] = made(app).id
    at_page(app, "report")
    app.segmented_control(key="report_view_links").set_value("attack").run()
    assert not app.exception and "reads private data" in words(app)
    booked = len(Ledger().entries())
    for kind, table in (("membership", None), ("inference", "lines")):
        app.segmented_control(key="attack_kind").set_value(kind).run()
        if table is not None:
            app.segmented_control(key=f"attack_table_{kind}").set_value(table).run()
            secret = next(f for f in app.selectbox if f.key.startswith("attack_secret"))
            assert "customers.kind" in secret.options and "lines.pieces" in secret.options
        app.selectbox(key=f"attack_runs_{kind}").set_value(20 if kind == "membership" else 10).run()
        app.button(key="attack_start").click().run()
        assert not app.exception and not app.error
        job = attacks().of(app.session_state["owner"])[0]
        assert ended(job).state == "done", job.failure()
        assert not list(job.folder.glob("*.parquet"))
        app.run()
        told = words(app)
        assert not app.exception and "of 60 records of customers, each with all that hangs on it" in told
        assert ("Attacked were records of lines" in told) == (kind == "inference")
    assert len(Ledger().entries()) == booked
