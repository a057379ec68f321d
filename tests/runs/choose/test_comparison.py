"""A comparison of systems: every cell has noise of its own, a private table is refused, refusals are kept."""

import csv
import io
import json

import numpy as np
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import DPSynError, InputError, SettingError
from dpsyn_core.runs.choose.comparison import check_comparison, compare_systems
from dpsyn_core.runs.choose.document import Candidate, ComparisonSpec, SystemsComparison, Trial, half_width
from dpsyn_core.runs.choose.worker import RESULT
from dpsyn_core.runs.choose.worker import main as work
from dpsyn_core.runs.jobs.folder import DONE, ERROR, JOB
from dpsyn_core.runs.jobs.folder import SCHEMA as SCHEMA_FILE
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.read import read_table
from tests.commands.small import SCHEMA, write_table


def spec(methods=("independent", "dpsyn"), epsilons=(0.5, 20.0), **changed):
    given = {"delta": 1e-9, "repeats": 2, "public": True} | changed
    return ComparisonSpec.of_candidates([Candidate(method=m) for m in methods], epsilons, **given)


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    write_table(tmp_path / "people.csv")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    return tmp_path


def test_every_cell_is_run_as_often_as_asked_with_noise_of_its_own(people):
    seen = []
    found = compare_systems(
        read_table(people / "people.csv"), Schema.of(SCHEMA), spec(),
        progress=lambda stage, done, total, value=None: seen.append((done, total)),
    )  # fmt: skip
    assert [(r.method, r.epsilon, r.repeat) for r in found.runs] == [
        (m, e, k) for m in ("independent", "dpsyn") for e in (0.5, 20.0) for k in (1, 2)
    ]
    assert len({r.pairs for r in found.runs}) > 4 and seen[-1] == (8, 8)
    cells = {(c.method, c.epsilon): c for c in found.cells()}
    assert cells["dpsyn", 20.0].mean < cells["dpsyn", 0.5].mean
    assert all(c.half is not None and c.runs == 2 for c in cells.values())
    assert found.pairs_floor > 0 and found.n_records == 200
    assert not [f for f in (people / "home").rglob("*") if "ledger" in f.name], "nothing is booked"


def test_a_private_table_is_refused_before_anything_is_read(people):
    with pytest.raises(InputError, match="for public tables alone"):
        compare_systems(None, Schema.of(SCHEMA), spec(public=False))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"methods": ("magic",)}, "unknown method 'magic'"),
        ({"methods": ("rls", "rls")}, "repeat each other"),
        ({"epsilons": (1.0, -1.0)}, "epsilon"),
        ({"repeats": 50, "epsilons": (1.0, 2.0, 3.0, 4.0, 5.0)}, "500 runs, above the cap"),
        ({"methods": ("pgm",)}, "adds no noise"),
    ],
)
def test_what_cannot_be_made_is_refused(change, said):
    with pytest.raises(DPSynError, match=said):
        check_comparison(spec(**change))


def test_a_system_that_refuses_is_kept_with_its_sentence_and_the_others_go_on(people):
    found = compare_systems(
        read_table(people / "people.csv"), Schema.of(SCHEMA),
        spec(methods=("dirichlet-multinomial", "independent"), epsilons=(1.0,), repeats=1),
    )  # fmt: skip
    assert [r.method for r in found.runs] == ["independent"]
    assert "replace" in found.refused["dirichlet-multinomial at epsilon 1"]
    assert found.cells()[0].half is None


def test_the_interval_of_a_mean_is_students():
    assert half_width([1.0]) is None
    assert half_width([1.0, 3.0]) == pytest.approx(12.7062 * np.sqrt(2) / np.sqrt(2), rel=1e-4)


def test_the_file_has_one_line_a_run():
    runs = tuple(Trial(method="rls", epsilon=1.0, repeat=k, pairs=0.1 * k, columns=0.01, seconds=1.0) for k in (1, 2))
    found = SystemsComparison(runs=runs, delta=1e-9, n_records=5)
    lines = list(csv.DictReader(io.StringIO(found.csv())))
    # the scores are exact answers about the table, and whoever is handed the file is told on whose word they left
    assert {line["promise"] for line in lines} == {"NOT PRIVATE: the table is public by its owner's word"}
    assert [float(x["pairs"]) for x in lines] == [0.1, 0.2] and lines[0]["delta"] == "1e-09"
    assert SystemsComparison.model_validate_json(found.model_dump_json()) == found


def test_the_command_prints_means_and_writes_the_runs(people, capsys):
    words = ["compare-systems", str(people / "people.csv"), "--schema", str(people / "schema.json"), "--quiet"]
    assert main(words) == 2
    assert "declare the table public" in capsys.readouterr().err
    more = ["--public", "--system", "independent", "--epsilons", "1,5", "-o", str(people / "g.csv")]
    assert main([*words, *more]) == 0
    said = capsys.readouterr().out
    assert "independent" in said and "+-" in said and "a fresh sample of 200 records" in said
    assert len((people / "g.csv").read_text().splitlines()) == 5
    assert main([*words, "--public", "--epsilons", "1,much"]) == 2
    assert "numbers separated by commas" in capsys.readouterr().err
    assert main([*words, "--public", "--repeats", "0"]) == 2
    assert "--repeats is 0" in capsys.readouterr().err


def folder_of(people, given):
    import pyarrow.parquet as pq

    folder = people / "job"
    folder.mkdir()
    pq.write_table(read_table(people / "people.csv"), folder / given.table)
    (folder / JOB).write_text(given.model_dump_json())
    (folder / SCHEMA_FILE).write_text(json.dumps(SCHEMA))
    return folder


@pytest.mark.parametrize(("public", "left"), [(True, DONE), (False, ERROR)])
def test_the_worker_leaves_a_result_or_a_refusal(people, public, left):
    """In a process of its own, for it lowers its priority and limits its memory."""
    import subprocess
    import sys

    given = spec(methods=("independent",), epsilons=(1.0,), repeats=1, public=public)
    folder = folder_of(people, given)
    subprocess.run([sys.executable, "-m", work.__module__, str(folder)], check=False, timeout=300)
    assert (folder / left).exists()
    if public:
        assert len(SystemsComparison.model_validate_json((folder / RESULT).read_text()).runs) == 1
    else:
        assert "public" in json.loads((folder / ERROR).read_text())["message"]


def test_an_empty_grid_is_no_grid():
    with pytest.raises(ValueError, match="at least 1 item"):
        spec(methods=())
    with pytest.raises(SettingError):
        check_comparison(spec(methods=("independent", "independent")))
