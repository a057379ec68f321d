"""A run is described once: calls, flags, job documents and pages make the same `RunSpec`."""

import inspect
import json

import pytest

from dpsyn_core import synthesize
from dpsyn_core.commands.cli import build_parser
from dpsyn_core.commands.common import run_spec
from dpsyn_core.errors import DPSynError, QuestionError, SettingError
from dpsyn_core.questions.document import Questions
from dpsyn_core.runs.attacks.result import AttackSpec
from dpsyn_core.runs.jobs.spec import JobSpec
from dpsyn_core.runs.spec import RunOptions, RunSpec
from dpsyn_core.schema.sample import sample_schema
from dpsyn_core.systems.registry import DEFAULT

QUESTIONS = [{"name": "pay", "kind": "mean", "of": "INCWAGE", "by": ["SEX"]}]
# as an earlier version left it for its worker
OLD = {
    "version": 1, "table": "/data/people.csv", "delimiter": ";", "encoding": None, "multiline": False, "header": None,
    "epsilon": 0.5, "delta": 1e-9, "method": "rls", "settings": {"triples": False}, "n_records": None, "seed": 7,
    "dataset": "people", "questions": {"version": 1, "questions": QUESTIONS}, "questions_share": 0.25,
    "query_vouched": False, "memory_mb": 2048, "seconds": 60,
}  # fmt: skip


def test_the_python_call_takes_every_field_by_its_name():
    taken = set(inspect.signature(synthesize).parameters)
    assert set(RunSpec.model_fields) - {"seed"} == {"epsilon", "delta"} | set(RunOptions.__annotations__)
    assert {"epsilon", "delta", "rng", "options"} <= taken, "rng: a seed, or a generator"
    for option in RunOptions.__annotations__:
        assert f"            {option}: " in synthesize.__doc__, option


def test_the_python_call_refuses_an_option_that_there_is_not():
    with pytest.raises(SettingError, match="unknown setting 'epsilons' of a run; known are epsilon, "):
        synthesize({"a": [1]}, sample_schema(), epsilon=1, delta=0, epsilons=2)


def test_the_flags_of_a_command_describe_the_run_that_a_call_describes(tmp_path):
    (tmp_path / "q.json").write_text(json.dumps({"version": 1, "questions": QUESTIONS}))
    arguments = [
        "synth", "t.csv", "--schema", "s.json", "--epsilon", "0.5", "--delta", "1e-9", "--set", "triples=false",
        "--seed", "7", "--dataset", "people", "--questions", str(tmp_path / "q.json"), "--questions-share", "0.25",
        "--tables", "2", "--query-vouched", "--out", "o.csv",
    ]  # fmt: skip
    args = build_parser(arguments).parse_args(arguments)
    assert run_spec(args) == RunSpec.of(
        epsilon=0.5, delta=1e-9, method=None, settings={"triples": False}, seed=7, dataset="people",
        questions=Questions.of(QUESTIONS), questions_share=0.25, tables=2,
    )  # fmt: skip
    assert run_spec(args).method == DEFAULT


def test_a_job_of_an_earlier_version_opens_and_is_the_run_that_it_was():
    job = JobSpec.model_validate(OLD)
    same = {k: v for k, v in OLD.items() if k in RunSpec.model_fields}
    assert job.model_dump(include=set(same)) == same
    assert job.task(sample_schema()).workload.share == 0.25
    assert JobSpec.model_validate_json(job.model_dump_json()) == job


def test_jobs_make_one_table_and_their_documents_do_not_speak_of_more():
    assert "tables" not in json.loads(JobSpec.model_validate(OLD).model_dump_json())
    with pytest.raises(ValueError, match="tables"):
        JobSpec.model_validate(OLD | {"tables": 2})


def test_an_attack_is_on_the_run_that_it_names():
    attack = AttackSpec.model_validate(OLD | {"seed": 0, "kind": "membership", "runs": 10})
    assert (attack.budget.epsilon, attack.config.name) == (0.5, "rls")
    assert not attack.charges


@pytest.mark.parametrize(
    ("fields", "error", "said"),
    [
        ({"sweeps": 3}, SettingError, "unknown setting 'sweeps' of a run; known are epsilon, delta, method"),
        ({"n_records": "many"}, SettingError, "setting 'n_records' of a run is 'many'"),
        ({"questions": [{"name": "x"}]}, QuestionError, "kind"),
        ({"tables": 0}, SettingError, "between 1 and 1000"),
    ],
)
def test_what_describes_no_run_is_refused_with_a_sentence(fields, error, said):
    with pytest.raises(error, match=said):
        RunSpec.of(epsilon=1.0, delta=0.0, **fields)


@pytest.mark.parametrize(
    "fields", [{"epsilon": 0.0}, {"delta": 1.0}, {"questions_share": 2.0}, {"questions": [QUESTIONS[0] | {"of": "x"}]}]
)
def test_what_is_out_of_range_is_refused_before_a_run_has_a_task(fields):
    with pytest.raises(DPSynError):
        RunSpec.of(**({"epsilon": 1.0, "delta": 0.0, "questions": QUESTIONS} | fields)).task(sample_schema())
