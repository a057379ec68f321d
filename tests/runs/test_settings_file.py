"""The settings of a run as one file: nothing is lost on the way, what cannot be is refused, flags come first."""

import json

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import DPSynError, SettingError
from dpsyn_core.runs.settings_file import RunSettings
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema
from tests.commands.small import SCHEMA, write_table

QUESTIONS = [{"name": "pay by sex", "kind": "mean", "of": "pay", "by": ["sex"]}]


def settings(**changed):
    run = {
        "epsilon": 0.7, "delta": 1e-6, "method": "rls", "settings": {"triples": False}, "n_records": 120, "seed": 11,
        "dataset": "people of town", "questions": QUESTIONS, "questions_share": 0.25,
    } | changed  # fmt: skip
    return RunSettings.of_run(RunSpec.of(**run), Schema.of(SCHEMA))


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    write_table(tmp_path / "people.csv")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    return tmp_path


def test_a_file_reads_back_to_equal_settings():
    made = settings()
    again = RunSettings.loads(made.dumps())
    assert again == made
    assert again.run.questions["questions"][0]["name"] == "pay by sex"


def test_questions_of_the_schema_become_those_of_the_run():
    schema = Schema.of({**SCHEMA, "questions": QUESTIONS})
    made = RunSettings.of_run(RunSpec.of(epsilon=1.0, delta=0.0), schema)
    assert made.schema.questions is None
    assert made.run.asked(made.schema).questions[0].name == "pay by sex"


def test_the_word_that_a_query_is_harmless_is_never_written():
    made = RunSettings.of_run(RunSpec.of(epsilon=1.0, delta=0.0), Schema.of(SCHEMA))
    assert "query_vouched" not in made.dumps()
    vouched = json.loads(made.dumps())
    vouched["run"]["query_vouched"] = True
    with pytest.raises(SettingError, match="unknown field 'query_vouched'"):
        RunSettings.of(vouched)


def test_the_place_of_a_public_table_is_never_written_and_no_file_names_one_to_be_read(tmp_path):
    made = RunSettings.of_run(RunSpec.of(epsilon=1.0, delta=0.0, public_table="last.csv"), Schema.of(SCHEMA))
    assert "public_table" not in made.dumps() and made.run.public_table is None
    somebody = tmp_path / "somebody.csv"
    somebody.write_text("diagnosis\nflu\n")
    named = json.loads(made.dumps())
    named["run"]["public_table"] = str(somebody)
    with pytest.raises(SettingError, match="unknown field 'public_table'") as found:
        RunSettings.of(named)
    assert "diagnosis" not in str(found.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.pop("kind"), "no settings of a run"),
        (lambda d: d.update(version=9), "version 9"),
        (lambda d: d.update(more=1), "unknown part 'more'"),
        (lambda d: d.pop("schema"), "no part 'schema'"),
        (lambda d: d["run"].update(epsilon=-1), "epsilon"),
        (lambda d: d["run"].update(method="magic"), "unknown method 'magic'"),
        (lambda d: d["run"].update(settings={"no": 1}), "unknown setting 'no'"),
        (lambda d: d["run"].update(n_records=-4), "n_records is -4"),
        (lambda d: d["run"]["questions"]["questions"][0].update(of="wage"), "wage"),
        (lambda d: d["schema"]["attributes"][0].update(kind="odd"), "unknown kind"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(change, said):
    document = json.loads(settings().dumps())
    change(document)
    with pytest.raises(DPSynError, match=said):
        RunSettings.of(document)


def test_a_draft_says_so_in_the_name_of_its_file():
    draft = {**SCHEMA, "attributes": [{**SCHEMA["attributes"][0], "source": "data"}, *SCHEMA["attributes"][1:]]}
    assert settings().file_name == "settings.json"
    run = RunSpec.of(epsilon=1.0, delta=0.0)
    assert RunSettings.of_run(run, Schema.of(draft)).file_name == "settings.NOT-PRIVATE.json"


def test_the_command_runs_from_the_file_alone_and_a_flag_comes_first(people):
    settings().dump(people / "s.json")
    words = ["synth", str(people / "people.csv"), "--settings", str(people / "s.json"), "--quiet"]
    assert main([*words, "-o", str(people / "a.csv"), "--manifest", str(people / "a.json")]) == 0
    made = json.loads((people / "a.json").read_text())
    assert (made["method"], made["epsilon"], made["delta"], made["n_records"]) == ("rls", 0.7, 1e-6, 120)
    assert made["dataset"] == "people of town" and made["seed"] == 11
    assert "pay by sex" in json.dumps(made)
    out = ["-o", str(people / "b.csv"), "--manifest", str(people / "b.json")]
    assert main([*words, *out, "--epsilon", "0.2", "--method", "independent", "--questions-share", "0"]) == 0
    made = json.loads((people / "b.json").read_text())
    assert (made["method"], made["epsilon"], made["settings"]) == ("independent", 0.2, {})


def test_plan_writes_the_file_and_reads_it(people, capsys):
    kept = str(people / "kept.json")
    words = ["plan", "--schema", str(people / "schema.json"), "--epsilon", "1", "--delta", "1e-9", "--set", "effort=2"]
    assert main([*words, "--save-settings", kept]) == 0
    first = capsys.readouterr().out
    assert main(["plan", "--settings", kept]) == 0
    assert capsys.readouterr().out == first
    assert RunSettings.load(kept).run.settings == {"effort": 2}
    assert main([*words, "--save-settings", str(people / "schema.json")]) == 2
    assert "would overwrite 'schema.json'" in capsys.readouterr().err


def test_a_run_without_a_budget_says_what_is_missing(people, capsys):
    words = ["synth", str(people / "people.csv"), "--schema", str(people / "schema.json"), "--delta", "0"]
    assert main([*words, "-o", str(people / "a.csv")]) == 2
    assert "--epsilon is missing" in capsys.readouterr().err


def test_tables_by_name_refuse_settings_of_one_table(people, capsys):
    settings().dump(people / "s.json")
    words = ["synth", "--table", f"persons={people / 'people.csv'}", "--settings", str(people / "s.json")]
    assert main([*words, "-o", str(people / "out/")]) == 2
    assert "describes one table; name its file without --table" in capsys.readouterr().err
