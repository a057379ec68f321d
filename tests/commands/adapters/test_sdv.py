"""The adapter for SDV and SDGym: a promise with a schema alone, no record inside it, and SDGym's own benchmark."""

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from dpsyn_core.commands.adapters.sdv import DPSynthesizer
from dpsyn_core.errors import InputError, MethodError, OutputError
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.schema.document import Schema
from tests.commands.adapters import in_sdgym
from tests.commands.adapters.in_sdgym import DOCUMENT, METADATA

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def people():
    return in_sdgym.people()


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db")


def test_a_schema_gives_a_promise_and_samples_cost_nothing(people, ledger):
    made = DPSynthesizer(METADATA, schema=Schema.of(DOCUMENT), epsilon=2.0, ledger=ledger)
    with pytest.raises(MethodError, match="call fit"):
        made.sample(5)
    made.fit(people)
    assert made.manifest.private and made.manifest.epsilon == 2.0 and made.manifest.identifier == "person"
    first, second = made.sample(500), made.sample(70)
    assert len(ledger.entries()) == 1
    assert list(first.columns) == list(people.columns) and (len(first), len(second)) == (500, 70)
    assert first.groupby("sex")["age"].mean()["F"] > 50 > first.groupby("sex")["age"].mean()["M"]
    assert list(first["person"]) == [str(i) for i in range(500)]


def test_metadata_alone_is_not_private_and_says_so(people, ledger):
    made = DPSynthesizer(METADATA, method="independent", ledger=ledger)
    with pytest.warns(UserWarning, match="NOT PRIVATE"):
        made.fit(people)
    assert not made.manifest.private
    assert set(made.sample(50)["sex"]) <= {"F", "M"}
    with pytest.raises(InputError, match="neither metadata nor a schema"):
        DPSynthesizer()


def test_a_copy_and_a_pickle_hold_no_record_and_sample(people, ledger, tmp_path):
    made = DPSynthesizer(METADATA, schema=Schema.of(DOCUMENT), method="independent", ledger=ledger)
    made.fit(people)
    stored = pickle.dumps(made)
    assert b"secret-" not in stored
    assert len(pickle.loads(stored).sample(20)) == len(copy.deepcopy(made).sample(20)) == 20
    with pytest.raises(OutputError, match=r"\.dpsyn"):
        made.save(tmp_path / "x.pkl")
    made.save(tmp_path / "x.dpsyn")
    assert b"secret-" not in (tmp_path / "x.dpsyn").read_bytes()


def test_a_system_that_releases_no_tables_is_refused_before_anything_is_spent(people, ledger):
    made = DPSynthesizer(METADATA, schema=Schema.of(DOCUMENT), method="dp-gm", ledger=ledger)
    with pytest.raises(MethodError, match="trained model"):
        made.fit(people)
    assert not ledger.entries()


@pytest.mark.sdgym
def test_sdgym_runs_it_as_one_of_its_own(people, tmp_path):
    """SDGym needs older libraries than the app does, so `make sdgym` gives it an environment of its own."""
    python = Path(sys.prefix) / "sdgym" / "bin" / "python"
    if not python.exists():
        pytest.fail("SDGym is not installed; run `make sdgym`", pytrace=False)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DPSYN_HOME": str(tmp_path / "home")}
    command = [python, "-m", "tests.commands.adapters.in_sdgym", tmp_path]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["name"] == "Custom:DPSyn" and said["columns"] == list(people.columns)
    assert said["Quality_Score"] > 0.5
    assert said["Diagnostic_Score"] > 0.99  # ages by a public range may leave the real one
