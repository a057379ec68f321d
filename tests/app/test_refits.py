"""A release in the app: Synthesize makes another table of it, and the ledger stays unchanged."""

import pytest

from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.jobs.folder import MANIFEST, MEASUREMENTS, SYNTHETIC
from dpsyn_core.runs.jobs.spec import RELEASE
from dpsyn_core.runs.release_file import pack_release
from dpsyn_core.runs.verify.receipts import receipt
from dpsyn_core.tables.read import read_table
from tests.app.test_jobs import ended, home, spec, start  # noqa: F401 home is a fixture
from ui.shared.jobs import Jobs


def packed(job):
    columns = read_table(job.folder / SYNTHETIC).column_names
    return pack_release(Manifest.load(job.folder / MANIFEST), (job.folder / MEASUREMENTS).read_bytes(), columns)


def again(jobs, content, **changes):
    asked = spec(release=RELEASE, **changes)
    return ended(jobs.start("me", asked, None, None, label="again", fingerprint="f", files={RELEASE: content}))


@pytest.mark.usefixtures("home")
def test_a_job_makes_a_table_of_a_release_and_charges_nothing():
    jobs = Jobs()
    paid = ended(start(jobs))
    before = Ledger().entries("toy")
    made = again(jobs, packed(paid), n_records=50, where="b in [0, 4]")
    assert made.state == "done", made.failure()
    table = read_table(made.folder / SYNTHETIC)
    assert table.num_rows == 50 and max(int(v) for v in table["b"].to_pylist()) <= 4
    assert Ledger().entries("toy") == before
    found = receipt(made.folder / SYNTHETIC, made.folder / MANIFEST, measurements=made.folder / MEASUREMENTS)
    assert found.publishable and found.manifest.run_id == Manifest.load(paid.folder / MANIFEST).run_id


@pytest.mark.usefixtures("home")
def test_a_hostile_release_ends_its_job_with_a_sentence():
    jobs = Jobs()
    content = bytearray(packed(ended(start(jobs))))
    content[len(content) // 2] ^= 1
    made = again(jobs, bytes(content))
    assert made.state == "failed" and RELEASE in made.failure() and "fault" not in made.failure()


@pytest.mark.usefixtures("home")
def test_a_job_keeps_the_columns_and_rules_that_were_asked_for():
    jobs = Jobs()
    paid = ended(start(jobs))
    rules = ({"kind": "impossible", "where": "b in [0, 4]"},)
    made = again(jobs, packed(paid), n_records=60, columns=("b",), rules=rules)
    assert made.state == "done", made.failure()
    table = read_table(made.folder / SYNTHETIC)
    assert table.column_names == ["b"] and min(int(v) for v in table["b"].to_pylist()) > 4
    found = Manifest.load(made.folder / MANIFEST).refit
    assert found.columns == ("b",) and found.rules == rules
    wrong = again(jobs, packed(paid), rules=({"kind": "impossible", "where": "nobody = 1"},))
    assert wrong.state == "failed" and "'nobody' is no column" in wrong.failure()
