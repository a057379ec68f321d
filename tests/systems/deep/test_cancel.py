"""A training that is cancelled, or interrupted from the keyboard, leaves nothing but its charge."""

import time

import numpy as np
import pytest

from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.jobs.folder import DONE, MANIFEST, MEASUREMENTS, SYNTHETIC
from dpsyn_core.runs.synthesis import synthesize
from tests.app.test_jobs import SCHEMA, TABLE, home, start  # noqa: F401  (home is a fixture)
from ui.shared.jobs import Jobs

pytestmark = pytest.mark.deep
LONG = {"steps": 20_000, "hidden": 50, "sampling": 1.0}


def test_a_training_that_is_cancelled_leaves_nothing_but_its_charge(home):  # noqa: F811
    jobs = Jobs()
    job = start(jobs, method="p3gm", settings=LONG, delta=1e-6)
    while job.live and not (job.progress().get("stage") == "training" and job.progress()["done"] > 1):
        time.sleep(0.05)
    assert job.live, job.failure()
    jobs.cancel(job.id, "me")
    assert job.process.poll() is not None
    assert job.state == "cancelled"
    assert not {SYNTHETIC, MANIFEST, MEASUREMENTS, DONE, "table.parquet"} & {p.name for p in job.folder.iterdir()}
    assert Ledger().summary("toy").runs == 1


def test_an_interrupt_in_the_middle_of_a_training_keeps_the_charge_and_gives_no_table(tmp_path):
    book = Ledger(tmp_path / "ledger.sqlite3")

    def interrupted(stage, done, total, value=None):
        if stage == "training" and done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        synthesize(TABLE, SCHEMA, epsilon=1.0, delta=1e-6, rng=0, method="p3gm", settings={"steps": 5, "hidden": 2},
                   ledger=book, progress=interrupted)  # fmt: skip
    assert len(book.entries()) == 1


def test_the_same_release_and_seed_give_the_same_table(tmp_path):
    made = synthesize(TABLE, SCHEMA, epsilon=1.0, delta=1e-6, rng=4, method="p3gm", settings={"steps": 3, "hidden": 2},
                      ledger=Ledger(tmp_path / "ledger.sqlite3"))  # fmt: skip
    again = made.measurements.draw(made.codes.shape[1], rng=np.random.default_rng(4))
    assert np.array_equal(made.codes, again)
