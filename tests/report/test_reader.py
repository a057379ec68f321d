"""A reader of a release: files are proved, counts keep their intervals when filtered, nothing else pretends to one."""

import io
import json
import zipfile

import numpy as np
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import DPSynError, QuestionError, ReceiptError, SizeError
from dpsyn_core.report.reader import open_release, question_of, sorted_files
from dpsyn_core.tables.read import read_table
from tests.commands.small import SCHEMA

COUNT = {"name": "people", "kind": "table", "of": ["sex"]}
MEAN = {"name": "pay", "kind": "mean", "of": "pay", "by": ["sex"]}


def load(folder):
    def read(name, content):
        path = folder / f"read-{name}"
        path.write_bytes(content)
        return read_table(path)

    return read


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files of one release of 6,000 records, in which women earn more."""
    folder = tmp_path_factory.mktemp("release")
    rng = np.random.default_rng(0)
    sex, age = rng.integers(0, 2, 6000), rng.integers(0, 100, 6000)
    pay = np.clip(rng.normal(4 + 2 * (sex == 0), 1), 0, 10).round(2)
    note = rng.integers(0, 3, 6000)
    words = ["=1+1", "a,b", "c"]
    lines = [f'{"FM"[s]},{a},{p},"{words[n]}"' for s, a, p, n in zip(sex, age, pay, note, strict=True)]
    (folder / "people.csv").write_text("sex,age,pay,note\n" + "\n".join(lines) + "\n")
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYN_HOME", str(folder / "home"))
        words = ["synth", str(folder / "people.csv"), "--schema", str(folder / "schema.json"), "--epsilon", "2"]
        words += ["--delta", "1e-9", "--out", str(folder / "s.csv"), "--manifest", str(folder / "m.json"), "--quiet"]
        assert (
            main(
                [
                    *words,
                    "--measurements",
                    str(folder / "x.json.gz"),
                    "--save-release",
                    str(folder / "x.dpsyn"),
                    "--seed",
                    "1",
                ]
            )
            == 0
        )
    files = [(n, (folder / n).read_bytes()) for n in ("s.csv", "m.json", "x.json.gz")]
    return {"folder": folder, "files": files, "sex": sex, "pay": pay, "age": age}


@pytest.fixture(scope="module")
def release(made):
    return open_release(sorted_files(made["files"]), load(made["folder"]))


def ask(release, document, **more):
    return release.ask(question_of(document, release.schema), **more)


def near(found, real):
    """Whether figures lie within three half-widths of their 95 % intervals, some six standard deviations."""
    return (np.abs(found.estimate - real) <= 1.5 * (found.high - found.low)).all()


def test_counts_and_means_have_intervals_that_hold_the_real_figures(made, release):
    counts = ask(release, COUNT)
    assert near(counts, np.bincount(made["sex"])) and "none" not in counts.grades
    means = ask(release, MEAN)
    assert np.isfinite(means.low).all() and means.estimate[0] > means.estimate[1]


def test_a_mean_by_bins_of_a_number_has_intervals_that_hold_the_real_figures(made, release):
    means = ask(release, {**MEAN, "by": ["age"], "bins": {"age": {"width": 50}}})
    real = [made["pay"][(made["age"] // 50) == k].mean() for k in (0, 1)]
    assert means.axes[0].labels == ("0 to under 50", "50 to under 100")
    assert np.isfinite(means.low).all() and near(means, real)


def test_a_filtered_count_keeps_its_interval(made, release):
    got = ask(release, COUNT, where="age in [0, 49]")
    real = np.bincount(made["sex"][made["age"] < 50])
    assert got.estimate.shape == (2,) and np.isfinite(got.low).all()
    assert (np.abs(got.estimate - real) < 300).all()
    assert got.axes[0].labels == ("F", "M")
    [one] = ask(release, {"name": "women", "kind": "range", "where": "sex = F"}, where="age in [0, 49]").rows()
    assert one["estimate"] == pytest.approx(got.estimate[0])


def test_a_filtered_mean_has_no_interval_and_says_so(release):
    got = ask(release, MEAN, where="age in [0, 49]")
    assert set(got.grades) == {"none"} and np.isnan(got.low).all() and np.isfinite(got.estimate).all()
    assert "No interval" in got.sentence


def test_without_released_tables_the_schema_reads_the_table_and_nothing_has_an_interval(made):
    files = [f for f in made["files"] if f[0] != "x.json.gz"]
    with pytest.raises(ReceiptError, match="neither released marginals"):
        open_release(sorted_files(files), load(made["folder"]))
    files.append(("schema.json", (made["folder"] / "schema.json").read_bytes()))
    got = ask(open_release(sorted_files(files), load(made["folder"])), COUNT)
    assert set(got.grades) == {"none"} and "were not given" in got.sentence
    assert got.estimate.sum() == json.loads(files[1][1])["n_records"]


def test_a_changed_table_is_refused_before_anything_opens_it(made):
    files = [(n, c + b"F,1,1,c\n" if n == "s.csv" else c) for n, c in made["files"]]

    def never(name, content):
        raise AssertionError(name)

    with pytest.raises(ReceiptError, match=r"'s\.csv' is not, byte for byte, a file of this manifest"):
        open_release(sorted_files(files), never)


def test_a_changed_promise_is_refused(made):
    document = json.loads(made["files"][1][1])
    document["epsilon"] = 0.1
    files = [(n, json.dumps(document).encode() if n == "m.json" else c) for n, c in made["files"]]
    with pytest.raises(DPSynError):
        open_release(sorted_files(files), load(made["folder"]))


def test_released_tables_of_another_run_are_refused(made, tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    folder = made["folder"]
    words = ["synth", str(folder / "people.csv"), "--schema", str(folder / "schema.json"), "--epsilon", "1", "--quiet"]
    words += ["--delta", "1e-9", "--method", "independent", "-o", str(tmp_path / "t.csv")]
    assert main([*words, "--measurements", str(tmp_path / "y.json.gz")]) == 0
    files = [f for f in made["files"] if f[0] != "x.json.gz"] + [("y.json.gz", (tmp_path / "y.json.gz").read_bytes())]
    with pytest.raises(ReceiptError, match=r"'y\.json\.gz' does not hold the marginals"):
        open_release(sorted_files(files), load(folder))


def bundle(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()


def test_a_bundle_is_taken_apart(made):
    more = [
        ("report.html", b"<p>"),
        ("README.txt", b"x"),
        ("schema.json", (made["folder"] / "schema.json").read_bytes()),
    ]
    found = sorted_files([("all.zip", bundle([*made["files"], *more]))])
    assert (found.table[0], found.manifest[0], found.measurements[0]) == ("s.csv", "m.json", "x.json.gz")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([("m.json", b"{}")], "no synthetic table"),
        ([("s.csv", b"a\n1\n")], "no manifest"),
        ([("s.csv", b""), ("t.csv", b""), ("m.json", b"")], "2 files that may be the table"),
        ([("b.zip", b"PK torn")], "no zip that can be read"),
    ],
)
def test_files_that_are_no_release_are_refused_in_a_sentence(files, said):
    with pytest.raises(ReceiptError, match=said):
        sorted_files(files)


def test_what_does_not_fit_is_refused(release):
    with pytest.raises(QuestionError, match="wage"):
        ask(release, {**MEAN, "of": "wage"})
    with pytest.raises(DPSynError, match="town"):
        ask(release, COUNT, where="town = X")
    with pytest.raises(SizeError, match="above the cap of 100"):
        ask(release, {**COUNT, "of": ["age", "sex", "note", "pay"]}, where="sex = F")


def test_a_release_file_stands_for_manifest_and_released_tables(made, release):
    whole = ("x.dpsyn", (made["folder"] / "x.dpsyn").read_bytes())
    found = open_release(sorted_files([made["files"][0], whole]), load(made["folder"]))
    assert (ask(found, COUNT).estimate == ask(release, COUNT).estimate).all()
    with pytest.raises(ReceiptError, match=r"'x\.dpsyn' holds what a run released, and no synthetic table; choose the"):
        sorted_files([whole])
