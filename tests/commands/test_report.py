"""`dpsyn report`: JSON and HTML from files, the safe report, and wrong options as one sentence."""

import argparse
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.commands.common import most_of
from dpsyn_core.errors import SettingError
from dpsyn_core.estimate.marginals.released_file import dump_measurements
from dpsyn_core.evaluate.base import PRIVATE_LABEL, UNKNOWN_LABEL
from tests.commands.test_compare import files, table  # noqa: F401 a fixture
from tests.report.test_html import manifest

SOME = ("--metrics", "tvd-1way,tvd-2way,range-queries,gini,pay-gap", "--quiet")


def report(folder, *more, real="real.csv", synthetic=("syn.csv",), html=True):
    at = [str(folder / n) if n != "-" else n for n in (real, *synthetic)]
    out = ["--json", str(folder / "r.json")] + (["--html", str(folder / "r.html")] if html else [])
    return main(["report", *at, "--schema", str(folder / "schema.json"), *out, *more])


def test_several_tables_give_one_json_and_one_html(files):  # noqa: F811
    table(250, 7).to_parquet(files / "other.parquet")
    (files / "m.json").write_text(manifest().to_json())
    manifests = ("--manifest", str(files / "m.json"), str(files / "m.json"))
    assert report(files, *SOME, *manifests, "--repeats", synthetic=("syn.csv", "other.parquet")) == 0
    document = json.loads((files / "r.json").read_text())
    assert document["label"] == PRIVATE_LABEL
    assert [t["name"] for t in document["tables"]] == ["syn", "other"]
    assert [t["n_records"] for t in document["tables"]] == [300, 250]
    assert document["bands"]["tvd-2way"]["runs"] == 2
    page = (files / "r.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "pay" in page


def test_queries_and_higher_orders_are_answered_on_request(files):  # noqa: F811
    more = ("--query", "age in [20, 39] and sex in {male}", "--query", "pay in [0, 50]", "--order", "4")
    assert report(files, *SOME, *more) == 0
    [entry] = json.loads((files / "r.json").read_text())["tables"]
    frame = pd.read_csv(files / "real.csv")
    assert entry["answers"][0]["real"] == (frame.age.between(20, 39) & (frame.sex == "male")).sum()
    assert entry["answers"][1]["real"] == frame.pay.between(0, 50).sum()
    assert 0 < entry["scores"]["tvd-4way"]["value"] < 1


def test_a_report_of_samples_says_so_and_scales_what_it_counts(files, capsys):  # noqa: F811
    (files / "parts").mkdir()
    for i in range(3):
        table(300, 2).iloc[100 * i : 100 * (i + 1)].to_parquet(files / "parts" / f"{i}.parquet")
    more = ("--metrics", "tvd-1way", "--query", "age in [0, 99]", "--sample", "80")
    assert report(files, *more, synthetic=("parts",)) == 0
    document = json.loads((files / "r.json").read_text())
    [entry] = document["tables"]
    assert entry["sample"] == {"real": {"records": 80, "of": 400}, "synthetic": {"records": 80, "of": 300}}
    assert (document["n_real"], entry["n_records"], entry["answers"][0]["real"]) == (400, 300, 400)
    assert "80 of 400 real records, 80 of 300 records of “parts”" in (files / "r.html").read_text()
    assert "for the owner only): 80 of its 400 records were drawn by chance" in capsys.readouterr().err
    assert report(files, *SOME, html=False) == 0
    assert "sample" not in json.loads((files / "r.json").read_text())["tables"][0]


def test_learning_uses_the_held_out_table(files):  # noqa: F811
    table(120, 9).to_csv(files / "unseen.csv", index=False)
    more = ["--metrics", "learning", "--held-out", str(files / "unseen.csv"), "--target", "sex", "--quiet"]
    more += ["--models", "logistic,adaboost,gradient-boosting,xgboost"]
    assert report(files, *more, html=False) == 0
    [entry] = json.loads((files / "r.json").read_text())["tables"]
    details = entry["scores"]["learning"]["details"]
    assert (details["target"], details["held_out"], details["tested_on"]) == ("sex", True, 120)
    assert set(details["train_synthetic"]) == {"logistic", "adaboost", "gradient-boosting", "xgboost"}


def test_without_the_real_table_the_report_reads_released_values_alone(files):  # noqa: F811
    from dpsyn_core.estimate.marginals.types import Measurement

    released = [Measurement(attributes=("sex",), values=np.array([140.0, 165.0]), sigma=5.0)]
    dump_measurements(files / "m.json.gz", released)
    (files / "real.csv").unlink()
    assert report(files, "--quiet", "--measurements", str(files / "m.json.gz"), real="-") == 0
    document = json.loads((files / "r.json").read_text())
    assert document["label"] == UNKNOWN_LABEL
    assert list(document["tables"][0]["scores"]) == ["measured-fit"]
    assert PRIVATE_LABEL not in (files / "r.html").read_text()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--metrics", "beauty"), "unknown metric 'beauty'; known are relations, tvd-1way"),
        (("--manifest", "SCHEMA", "SCHEMA"), "--manifest names 2 files for 1 tables"),
        (("--manifest", "SCHEMA"), "no manifest of version 1, 2 or 3"),
        (("--measurements", "SCHEMA"), "does not hold released marginals"),
        (("--held-out", "NONE"), "none.csv"),
        (("--target", "wealth"), "'wealth' is not in the schema"),
        (("--html", "JSON"), "named twice"),
        (("--query", "age of 3"), "cannot be read from 'age of 3'"),
        (("--models", "oracle"), "unknown model 'oracle'"),
        (("--order", "9"), "no 9-way marginal"),
        (("--sample", "0"), "--sample is 0"),
    ],
)
def test_wrong_options_are_one_sentence_and_leave_no_file(files, capsys, more, words):  # noqa: F811
    places = {"SCHEMA": "schema.json", "NONE": "none.csv", "JSON": "r.json"}
    given = [str(files / places[m]) if m in places else m for m in more]
    assert report(files, *given, html=False) == 2
    assert words in capsys.readouterr().err
    assert not (files / "r.json").exists()


def test_a_safe_report_takes_no_held_out_table(files, capsys):  # noqa: F811
    assert report(files, "--held-out", str(files / "real.csv"), real="-") == 2
    assert "without them" in capsys.readouterr().err


def test_a_run_that_was_told_questions_is_reported_with_their_answers(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    sex, pay = rng.integers(0, 2, 800), rng.integers(0, 100, 800)
    rows = "".join(f"{'FM'[s]},{p}\n" for s, p in zip(sex, pay, strict=True))
    (tmp_path / "real.csv").write_text("sex,pay\n" + rows)
    attributes = [
        {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        {"name": "pay", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 5}},
    ]
    asked = [{"name": "pay by sex", "kind": "mean", "of": "pay", "by": ["sex"]}]
    schema = {"version": 1, "name": "p", "attributes": attributes, "questions": asked}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    left = ["--manifest", "m.json", "--measurements", "x.gz"]
    assert main(["synth", "real.csv", "--schema", "schema.json", "--epsilon", "3", "--delta", "1e-9", "--out",
                 "syn.csv", *left, "--quiet"]) == 0  # fmt: skip
    for real in ("-", "real.csv"):
        metric = "measured-fit" if real == "-" else "tvd-1way"
        assert report(tmp_path, "--metrics", metric, "--quiet", *left, real=real) == 0
        [entry] = json.loads((tmp_path / "r.json").read_text())["tables"][0]["asked"]
        assert entry["question"] == "pay by sex" and len(entry["figures"]) == 2
        assert ("real" in entry) == (real != "-")
        assert "pay by sex" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("sample", [0, -3])
def test_a_sample_has_one_record_at_least(sample):
    schema = SimpleNamespace(attributes=[None] * 3)
    one = most_of(argparse.Namespace(sample=1, memory="4GB"), schema, 2)
    whole = most_of(argparse.Namespace(sample=None, memory="4GB"), schema, 2)
    assert one == 1 and whole > 1000
    assert most_of(argparse.Namespace(sample=10**12, memory="4GB"), schema, 2) == whole
    with pytest.raises(SettingError, match="at least 1"):
        most_of(argparse.Namespace(sample=sample, memory="4GB"), schema, 2)
