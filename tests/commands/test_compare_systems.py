"""Systems on an invented table: the digest comes first and fits the draw that is revealed; a draw repeats itself."""

import hashlib
import json

import numpy as np
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import SettingError
from dpsyn_core.evaluate.base import compute
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.runs.choose.processes import PROCESSES, Draw
from dpsyn_core.schema.codec import Codec

SMALL = ["--process", "classes", "--records", "600", "--columns", "4"]
FAST = ["--system", "independent", "--epsilons", "1", "--repeats", "1", "--quiet"]


def test_the_digest_is_said_first_and_fits_what_is_revealed_last(tmp_path, capsys):
    out = tmp_path / "out.json"
    assert main(["compare-systems", *SMALL, *FAST, "--json", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("digest of process, size and seed: ")
    draw = json.loads(lines[-1].removeprefix("the draw: "))
    text = json.dumps(draw, sort_keys=True, separators=(",", ":"))
    assert lines[0].endswith(hashlib.sha256(text.encode()).hexdigest())
    found = json.loads(out.read_text())
    [run] = found["runs"]
    assert found["draw"] == draw and run["method"] == "independent" and 0 < run["columns"] < run["triples"] < 1


def test_a_committed_draw_is_kept_for_its_owner_and_used_later(tmp_path, capsys):
    secret = tmp_path / "secret.json"
    assert main(["compare-systems", *SMALL, "--commit", str(secret)]) == 0
    promised = capsys.readouterr().out
    assert json.loads(secret.read_text())["seed"] not in promised
    assert secret.stat().st_mode & 0o077 == 0
    assert main(["compare-systems", "--commit", str(secret)]) == 2  # nothing is overwritten
    capsys.readouterr()
    assert main(["compare-systems", *FAST, "--secret", str(secret)]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0] == promised.strip()
    assert "600 records x 4 columns" in shown


def test_no_ledger_is_charged(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path))
    assert main(["compare-systems", *SMALL, *FAST]) == 0
    capsys.readouterr()
    assert main(["ledger"]) == 0
    assert "classes" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [["--process", "what"], ["--system", "what"], ["--records", "1"], ["--epsilons", "0"], ["--repeats", "0"]],
)
def test_what_cannot_be_made_is_refused_before_a_digest(wrong, capsys):
    assert main(["compare-systems", *SMALL, *FAST, *wrong]) == 2
    assert "digest" not in capsys.readouterr().out


@pytest.mark.parametrize("process", PROCESSES)
def test_a_draw_repeats_itself_and_another_seed_gives_another_table(process):
    draw = Draw.fresh(process, 500, 9)
    table, schema = draw.table()
    again, _ = Draw.of(draw.document()).table()
    assert table.equals(again)
    other, _ = Draw.fresh(process, 500, 9).table()
    assert not table.equals(other)
    codes = Codec(schema).encode(table).codes
    assert codes.shape == (9, 500)
    assert all(len(np.unique(c)) > 1 for c in codes)


@pytest.mark.parametrize("process", PROCESSES)
def test_every_process_makes_columns_that_depend(process):
    table, schema = Draw(process=process, records=60_000, columns=6, seed="5" * 64).table()
    rng = np.random.default_rng(0)
    import pyarrow as pa

    alone = pa.table({n: table.column(n).take(pa.array(rng.permutation(60_000))) for n in table.column_names})
    distance = compute(compare_tables(schema, alone, table), ["tvd-2way"])["tvd-2way"].value
    halves = compute(compare_tables(schema, table.slice(0, 30_000), table.slice(30_000)), ["tvd-2way"])[
        "tvd-2way"
    ].value
    assert distance > 1.1 * halves


def test_a_seed_that_is_none_is_refused():
    with pytest.raises(SettingError, match="hexadecimal"):
        Draw(process="tree", records=10, columns=2, seed="12")
    with pytest.raises(SettingError, match="fields"):
        Draw.of({"seed": "12"})


@pytest.mark.parametrize("given", [["t.csv"], ["--schema", "s.json"], []])
def test_a_comparison_on_a_table_needs_both_the_table_and_its_schema(given, capsys):
    assert main(["compare-systems", *given, "--public"]) == 2
    assert "a comparison needs a public table with its --schema" in capsys.readouterr().err
