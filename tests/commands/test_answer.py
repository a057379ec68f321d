"""`dpsyn answer`: answers from files alone, what is refused, and what the figures say."""

import gzip
import hashlib
import json
import socket

import numpy as np
import pyarrow as pa
import pytest

import dpsyn_core
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import QuestionError, ReceiptError, SettingError
from dpsyn_core.questions.document import Questions
from dpsyn_core.report.answers import answer_codes
from dpsyn_core.schema.document import Schema

SCHEMA = {
    "version": 1,
    "name": "people",
    "attributes": [
        {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        {"name": "city", "kind": "categorical", "values": ["A", "B", "C"]},
        {"name": "pay", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 10}},
        {"name": "rare", "kind": "categorical", "values": ["no", "yes"]},
    ],
}
QUESTIONS = [
    {"name": "women", "kind": "range", "where": "sex = F"},
    {"name": "pay by city", "kind": "mean", "of": "pay", "by": ["city"]},
    {"name": "gap", "kind": "gap", "of": "pay", "by": ["city"], "between": {"sex": ["M", "F"]}},
    {"name": "median", "kind": "quantile", "of": "pay", "by": ["sex"]},
    {"name": "says", "kind": "predict", "of": "sex"},
    {"name": "line", "kind": "regression", "of": "pay", "on": ["sex", "city"]},
    {"name": "odds", "kind": "regression", "of": "rare", "on": ["sex", "pay"], "model": "logistic"},
]
METHODS = ("rls", "independent", "mst")


def columns(n=3000):
    rng = np.random.default_rng(0)
    sex, city = rng.integers(0, 2, n), rng.integers(0, 3, n)
    pay = np.clip(rng.integers(0, 50, n) + 25 * sex + 12 * city, 0, 99)
    return sex, city, pay, (rng.random(n) < 0.002).astype(int)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Releases of one table by the command; the private table is gone afterwards."""
    place = tmp_path_factory.mktemp("made")
    rows = [f"{'FM'[s]},{'ABC'[c]},{p},{'no' if not r else 'yes'}" for s, c, p, r in zip(*columns(), strict=True)]
    (place / "people.csv").write_text("sex,city,pay,rare\n" + "\n".join(rows) + "\n")
    Schema.of(SCHEMA).dump(place / "schema.json")
    (place / "q.json").write_text(json.dumps({"version": 1, "questions": QUESTIONS}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYN_HOME", str(place / "home"))
        patch.chdir(place)
        for method in METHODS:
            words = ["--out", f"{method}.csv", "--manifest", f"{method}.json", "--measurements", f"{method}.gz"]
            assert main(["synth", "people.csv", "--schema", "schema.json", "--epsilon", "3", "--delta", "1e-9",
                         "--method", method, "--seed", "1", "--quiet", *words]) == 0  # fmt: skip
    (place / "people.csv").unlink()
    (place / "schema.json").unlink()
    return place


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    """A copy of the released files alone, that a test may change; there is neither a ledger nor a network."""
    for path in made.glob("*.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("no network is needed"))
    return tmp_path


def words(method="rls", table=None, **more):
    given = {"manifest": f"{method}.json", "measurements": f"{method}.gz", "questions": "q.json", **more}
    flat = [w for k, v in given.items() for w in (f"--{k}", v)]
    return ["answer", table or f"{method}.csv", *flat, "--quiet"]


def test_released_files_alone_answer_every_question_with_interval_grade_and_sentence(place, capsys):
    assert main([*words(), "--json"]) == 0
    found = {a["question"]: a for a in json.loads(capsys.readouterr().out)["answers"]}
    assert list(found) == [q["name"] for q in QUESTIONS]
    assert not (place / "nowhere").exists()
    for answer in found.values():
        assert answer["sentence"].endswith(".") and answer["grade"] in ("exact", "estimated", "bounded", "none")
        for figure in answer["figures"]:
            known = figure["low"] is not None
            assert known == (figure["grade"] != "none")
            assert not known or figure["low"] <= figure["estimate"] <= figure["high"]
    sex, city, pay, _ = columns()
    (women,) = found["women"]["figures"]
    assert women["grade"] == "exact" and abs(women["estimate"] - (sex == 0).sum()) < 8 * women["noise"]
    means = [f["estimate"] for f in found["pay by city"]["figures"]]
    middles = pay // 10 * 10 + 4.5
    assert means == pytest.approx([middles[city == c].mean() for c in range(3)], abs=4)


def test_a_rare_outcome_of_a_regression_is_refused_in_a_sentence_and_the_rest_is_not(place, capsys):
    assert main([*words(), "--json"]) == 0
    found = {a["question"]: a for a in json.loads(capsys.readouterr().out)["answers"]}
    assert found["line"]["grade"] in ("estimated", "bounded")
    assert found["odds"]["grade"] == "none"
    assert found["odds"]["notes"]


def test_the_text_names_every_question_and_its_grade(place, capsys):
    assert main(words()) == 0
    said = capsys.readouterr().out
    assert "women [exact]" in said
    assert said.count("pay by city [") == 1
    assert "  A" in said and " to " in said


def test_the_population_is_known_less_well(place, capsys):
    widths = []
    for more in ([], ["--population"]):
        assert main([*words(), "--json", *more]) == 0
        answers = json.loads(capsys.readouterr().out)["answers"]
        widths.append([f["high"] - f["low"] for f in answers[1]["figures"]])
    assert all(b > a for a, b in zip(*widths, strict=True))


def test_what_a_graphical_model_measured_answers_too(place, capsys):
    """One-ways and three pairs: 1,500 women of 3,000 people, where an empty file once made 0 of them."""
    assert main([*words("mst"), "--json"]) == 0
    found = {a["question"]: a for a in json.loads(capsys.readouterr().out)["answers"]}
    women = found["women"]["figures"][0]
    truth = int((columns()[0] == 0).sum())
    assert found["women"]["grade"] == "exact"
    # the interval misses the truth in one run of twenty, as it says: eight deviations never come
    assert abs(women["estimate"] - truth) < 8 * women["noise"] and women["high"] - women["low"] < 120
    assert found["line"]["grade"] == "none"
    assert "made again" in found["line"]["sentence"]


def emptied(place, name, version):
    """A file of released marginals without any, and the manifest that names it."""
    document = json.loads(gzip.decompress((place / f"{name}.gz").read_bytes()))
    content = gzip.compress(json.dumps(document | {"measurements": [], "version": version}).encode(), mtime=0)
    (place / f"{name}.gz").write_bytes(content)
    manifest = json.loads((place / f"{name}.json").read_text())
    manifest["digests"]["measurements"] = hashlib.sha256(content).hexdigest()
    (place / f"{name}.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("method", METHODS)
def test_a_missing_marginal_is_no_zero_but_a_sentence(place, capsys, method):
    emptied(place, method, 1)
    assert main(words(method)) == 2
    error = capsys.readouterr().err
    assert "is empty" in error and "paid for" in error and error.count("\n") == 1


def test_a_file_of_a_later_version_is_refused(place, capsys):
    emptied(place, "rls", 99)
    assert main(words()) == 2
    assert "later version" in capsys.readouterr().err


def test_where_nothing_was_measured_the_figure_is_the_table_s_own_and_says_so(place):
    """Single counts of mwem are no marginals, so that nothing says how far off the table is; 0 it is not."""
    schema = Schema.of({**SCHEMA, "n_records": 3000})
    sex, city, pay, rare = columns()
    table = pa.table(
        {"sex": np.array(["F", "M"])[sex], "city": np.array(["A", "B", "C"])[city], "pay": pay.astype(str),
         "rare": np.array(["no", "yes"])[rare]}
    )  # fmt: skip
    release = dpsyn_core.synthesize(
        table, schema, epsilon=3.0, delta=1e-9, rng=1, method="mwem", settings={"kind": "queries", "rounds": 3}
    )
    assert release.marginals == []
    private = schema.model_copy(update={"n_records": None})
    (women,) = answer_codes(release.codes, release.released, private, release.manifest, Questions.of(QUESTIONS[:1]))
    assert women.grade == "none"
    assert float(women.estimate) == float(women.synthetic) == (release.codes[0] == 0).sum()
    assert "of the synthetic table" in women.sentence
    (women,) = answer_codes(
        release.codes[:, :0], release.released, private, release.manifest, Questions.of(QUESTIONS[:1])
    )
    assert np.isnan(women.estimate)
    assert "Not answered" in women.sentence


def test_independent_columns_are_exact_alone_and_say_nothing_together(place):
    found = dpsyn_core.answer(
        "independent.csv", manifest="independent.json", measurements="independent.gz", questions="q.json"
    )
    assert [a.grade for a in found.answers] == ["exact", *["none"] * 6]


def test_the_same_files_give_the_same_answers(place):
    files = {"manifest": "rls.json", "measurements": "rls.gz", "questions": QUESTIONS[:3]}
    first, second = (dpsyn_core.answer("rls.csv", **files).plain() for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("change", "more", "said"),
    [
        (lambda p: (p / "rls.csv").write_text((p / "rls.csv").read_text().replace("F,", "M,", 1)), {}, "edited after"),
        (lambda p: None, {"table": "independent.csv"}, "not the table of this manifest"),
        (lambda p: None, {"measurements": "independent.gz"}, "does not hold the marginals"),
        (lambda p: (p / "rls.gz").write_bytes(b"{}"), {}, "does not hold released marginals"),
        (lambda p: None, {"measurements": "gone.gz"}, "cannot read 'gone.gz': No such file"),
        (lambda p: (p / "q.json").write_text("[]"), {}, "no question"),
        (lambda p: (p / "q.json").write_text('[{"name": "q", "kind": "mean", "of": "x"}]'), {}, "'x' is no column"),
        (lambda p: None, {"questions": "gone.json"}, "cannot be read"),
        (lambda p: None, {"confidence": "95"}, "between 0 and 1"),
    ],
)
def test_what_does_not_belong_together_is_refused_in_one_sentence(place, capsys, change, more, said):
    change(place)
    assert main(words(**more)) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_marginals_of_an_earlier_version_need_the_schema(place, capsys):
    document = json.loads(gzip.decompress((place / "rls.gz").read_bytes()))
    assert Schema.loads(document["schema"]) == Schema.of(SCHEMA)
    del document["schema"]
    (place / "rls.gz").write_bytes(gzip.compress(json.dumps(document).encode()))
    assert main(words()) == 2
    assert "name the schema" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "error"),
    [({"truth": "other"}, SettingError), ({"questions": []}, QuestionError), ({"schema": None}, None)],
)
def test_python_refuses_as_the_command_does(place, more, error):
    files = {"manifest": "rls.json", "measurements": "rls.gz", "questions": QUESTIONS[:1]}
    if error is None:
        found = dpsyn_core.answer("rls.csv", **{**files, **more})
        assert found["women"].grade == "exact"
        with pytest.raises(QuestionError, match="known are women"):
            found["men"]
        return
    with pytest.raises(error):
        dpsyn_core.answer("rls.csv", **{**files, **more})


def test_an_edited_schema_in_the_file_is_not_believed(place):
    document = json.loads(gzip.decompress((place / "rls.gz").read_bytes()))
    document["schema"] = document["schema"].replace("people", "others")
    (place / "rls.gz").write_bytes(gzip.compress(json.dumps(document).encode()))
    with pytest.raises(ReceiptError):
        dpsyn_core.answer("rls.csv", manifest="rls.json", measurements="rls.gz", questions=QUESTIONS[:1])


def test_every_table_of_several_gives_the_same_answers(place):
    sex, city, pay, rare = columns(600)
    table = {"sex": np.array(["F", "M"])[sex], "city": np.array(["A", "B", "C"])[city], "pay": pay,
             "rare": np.array(["no", "yes"])[rare]}  # fmt: skip
    import pandas as pd

    release = dpsyn_core.synthesize(
        pd.DataFrame(table), Schema.of({**SCHEMA, "questions": QUESTIONS[:2]}), epsilon=1.0, delta=1e-9, rng=1, tables=2
    )
    from dpsyn_core.estimate.marginals.released_file import pack_measurements
    from dpsyn_core.runs.writer import Places, write_release

    packed = pack_measurements(release.released, schema=release.schema)
    places = Places.of(place / "s.csv", place / "s.json", tables=2, measurements=place / "s.gz", private=True)
    write_release(release, places, measurements=packed)
    files = {"manifest": "s.json", "measurements": "s.gz"}
    first, second = (dpsyn_core.answer(f"s-{i}.csv", **files).plain()["answers"] for i in (1, 2))
    assert first == second
    assert [a["question"] for a in first] == ["women", "pay by city"]
    with pytest.raises(ReceiptError, match="not the ones that were declared for this run"):
        dpsyn_core.answer("s-1.csv", **files, questions=QUESTIONS[:1])
    assert dpsyn_core.answer("s-1.csv", **files, questions=QUESTIONS[:1], others=True)["women"].grade == "exact"


def test_answers_need_released_marginals(capsys):
    with pytest.raises(SystemExit):
        main(["answer", "x.csv", "--manifest", "m.json", "--questions", "q.json"])
    assert "required: --measurements" in capsys.readouterr().err
