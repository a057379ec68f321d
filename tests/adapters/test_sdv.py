"""The adapter for SDV and SDGym: a promise with a schema alone, no record inside it, and SDGym's own benchmark."""

import copy
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.adapters.sdv import DPSynthesizer, sdgym_synthesizer
from dpsyn_core.errors import InputError, MethodError, OutputError
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.schema.document import Schema

METADATA = {
    "tables": {
        "people": {
            "primary_key": "person",
            "columns": {
                "person": {"sdtype": "id"}, "sex": {"sdtype": "categorical"}, "age": {"sdtype": "numerical"},
            },
        }
    },
    "relationships": [],
    "METADATA_SPEC_VERSION": "V1",
}  # fmt: skip
DOCUMENT = {
    "version": 1,
    "name": "people",
    "unit": {"identifier": "person"},
    "attributes": [
        {"name": "person", "kind": "identifier"},
        {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 10}},
    ],
}


@pytest.fixture
def people():
    rng = np.random.default_rng(3)
    sex = rng.choice(["F", "M"], 900, p=[0.8, 0.2])
    age = np.where(sex == "F", rng.integers(60, 90, 900), rng.integers(10, 40, 900))
    return pd.DataFrame({"person": [f"secret-{i}" for i in range(900)], "sex": sex, "age": age})


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


def test_sdgym_runs_it_as_one_of_its_own(people, tmp_path, monkeypatch):
    sdgym = pytest.importorskip("sdgym")
    from sdv.metadata import Metadata

    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    one = sdgym_synthesizer("DPSyn", schema=Schema.of(DOCUMENT), method="independent")
    assert one.__name__ == "Custom:DPSyn"
    metadata = Metadata.load_from_dict(METADATA)
    fitted = one().get_trained_synthesizer(people, metadata.to_dict())
    assert list(one().sample_from_synthesizer(fitted, 30).columns) == list(people.columns)
    folder = tmp_path / "sets" / "single_table" / "people"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("people.csv", people.to_csv(index=False))
    metadata.save_to_json(folder / "metadata.json")
    monkeypatch.chdir(folder.parent)  # SDGym looks for tables where it runs, and else on the network
    scores = sdgym.benchmark_single_table(
        synthesizers=[], custom_synthesizers=[one], sdv_datasets=None,
        additional_datasets_folder=str(tmp_path / "sets"), compute_privacy_score=False,
    )  # fmt: skip
    row = scores[scores["Synthesizer"] == "Custom:DPSyn"].iloc[0]
    assert (
        row["Quality_Score"] > 0.5 and row["Diagnostic_Score"] > 0.99
    )  # ages by a public range may leave the real one
