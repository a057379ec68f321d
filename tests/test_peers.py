"""Others' systems: codes go out and come back whole; what a peer does wrong, or does not do, is a result."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import run
from benchmarks.tables import Table
from dpsyn_core.schema.domain import Domain

TABLE = Table(name="small", codes=np.array([[0, 1, 1], [2, 0, 1]], np.uint8), domain=Domain.of({"a": 2, "b": 3}))
GIVEN = {"epsilon": 1.0, "delta": 1e-9}
COPY = "import shutil, sys; shutil.copy(sys.argv[2], sys.argv[6])"


@pytest.fixture
def peer(tmp_path, monkeypatch):
    """Runs a script as a peer of an environment that is this interpreter's."""

    def tried(script, limit=60):
        (tmp_path / "peer.py").write_text(script, encoding="utf-8")
        python = tmp_path / "env" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.symlink_to(sys.executable)
        monkeypatch.setitem(run.PEERS, "peer", ("env", str(tmp_path / "peer.py"), "x"))
        return run.run_peer("peer", TABLE, **GIVEN, limit=limit, environments=tmp_path)

    return tried


def test_a_peer_that_copies_the_records_has_no_distance(peer):
    made = peer(COPY)
    assert np.array_equal(made.codes, TABLE.codes)
    assert run.row("peer", TABLE, made)[:3] == ["small", "peer", "0.0000"]


@pytest.mark.parametrize(
    "script, said",
    [
        ("import sys; open(sys.argv[6], 'w').write('a,b\\n0,3\\n')", "codes that the domain does not have"),
        ("import sys; open(sys.argv[6], 'w').write('b,a\\n0,1\\n')", "not those it was given"),
        ("raise RuntimeError('broken')", "RuntimeError: broken"),
        ("pass", "failed"),
    ],
)
def test_what_a_peer_does_wrong_is_said(peer, script, said):
    made = peer(script)
    assert made.codes is None and said in made.said
    assert run.row("peer", TABLE, made)[2] == made.said


def test_a_peer_that_does_not_end_is_ended(peer):
    spinning = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    made = peer(spinning, limit=1)
    assert made.said == "did not end in 1 CPU s" and 1 <= made.cost.cpu < 3


@pytest.mark.parametrize("whom", ["group, at once", "group", "benchmark alone"])
def test_a_peer_ends_with_its_benchmark(tmp_path, whom):
    """The peer starts a second process, whose id it writes, and both go on for minutes."""
    wrote = tmp_path / "ids"
    (tmp_path / "peer.py").write_text(
        "import os, subprocess, sys, time\n"
        "other = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(900)'])\n"
        f"open({str(wrote)!r}, 'w').write(f'{{os.getpid()}} {{other.pid}}\\n')\n"
        "time.sleep(900)\n"
    )
    code = "import sys; from benchmarks.process import measure; measure(sys.argv[1:], limit=300)"
    benchmark = subprocess.Popen(
        [sys.executable, "-c", code, sys.executable, str(tmp_path / "peer.py")], start_new_session=True
    )
    until(lambda: wrote.exists() and wrote.read_text().endswith("\n"))
    if whom == "benchmark alone":
        benchmark.kill()
    else:
        os.killpg(benchmark.pid, signal.SIGTERM if whom == "group" else signal.SIGKILL)
    benchmark.wait()
    ids = wrote.read_text().split()
    try:
        until(lambda: not any(running(i) for i in ids))
    finally:
        for i in filter(running, ids):
            os.kill(int(i), signal.SIGKILL)


def until(holds, seconds=300):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.05)


def running(process):
    """Whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_what_is_learned_and_what_groups_share_is_scored_on_tables_of_high_order():
    for name, wanted in (("parity-2", 0.95), ("groups", 0.0)):
        table = run.TABLES[name]()
        found = run.row("copy", table, run.Result(codes=table.codes, cost=None))
        assert float(found[4].removeprefix("four-ways ")) == pytest.approx(wanted, abs=0.02)
        assert float(found[2]) == 0


def test_several_runs_are_one_row_of_means_and_those_without_a_table_are_counted():
    runs = [
        ["t", "p", "0.10", "0.30", "four-ways 0.2", "5", "90"],
        ["t", "p", "0.20", "0.30", "four-ways 0.4", "7", "100"],
    ]
    wanted = ["t", "p", "0.1500 +- 0.0500", "0.3000 +- 0.0000", "four-ways 0.300 +- 0.100", "6 +- 1", "100"]
    assert run.together(runs) == wanted
    failed = ["t", "p", "failed: memory", "", "", "3", "80"]
    assert run.together([*runs, failed]) == ["t", "p, 2 of 3 runs", *wanted[2:]]
    assert run.together([failed, failed]) == failed
    assert run.together([runs[0], failed])[2] == "0.1000 +- nan"


def test_every_system_runs_as_often_as_asked(monkeypatch, capsys):
    monkeypatch.setitem(run.TABLES, "small", lambda: TABLE)
    ended = iter((True, False, True))
    monkeypatch.setattr(run, "run_peer", lambda name, table, **_: run.Result(
        codes=table.codes if next(ended) else None, cost=None, said="did not end"))  # fmt: skip
    assert run.main(["--tables", "small", "--peers", "dpmm-mst", "--ours", "", "--seeds", "3"]) == 0
    assert "| small | dpmm-mst, 2 of 3 runs | 0.0000 +- 0.0000 |" in capsys.readouterr().out


def test_a_peer_without_an_environment_is_named(tmp_path):
    made = run.run_peer("dpmm-mst", TABLE, **GIVEN, limit=1, environments=tmp_path)
    assert "dpmm.txt was not installed" in made.said


def test_every_peer_has_a_script_and_a_lock():
    for environment, script, _ in run.PEERS.values():
        assert (run.HERE / script).exists()
        pinned = (run.HERE / f"{environment}.txt").read_text("utf-8").split()
        assert pinned and all("==" in line for line in pinned)
