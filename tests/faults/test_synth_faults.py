"""`dpsyn synth` killed, cancelled, starved and refused: the budget stays spent and no file is partial."""

import os
import resource
import signal
import time
from pathlib import Path

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.schema.codec import Codec
from tests.faults.jobs import arguments, check, drew_noise, prepare, start
from tests.faults.places import file_limit, open_folder, unprivileged


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    prepare(tmp_path)
    return tmp_path


def debits(folder):
    return len(Ledger(folder / "home" / "ledger.sqlite3").entries())


def clean(folder):
    for path in (folder / "out").iterdir():
        path.unlink()


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_spends_counted_and_files_whole(folder):
    """SIGKILL at twenty-four moments spread over one run; afterwards a run goes through."""
    assert main(arguments(folder)) == 0  # fills every cache, so that the moments fall into the run itself
    began = time.perf_counter()
    child, pipe = start(folder)
    child.join()
    length = time.perf_counter() - began
    assert drew_noise(pipe)
    spent = check(folder, True, 1)
    outcomes = set()
    for i in range(24):
        clean(folder)
        child, pipe = start(folder)
        drew = False
        while i % 2 and not drew:  # half of the kills wait for the first noise, however slow the machine is
            drew = pipe.recv() == "noise"
        time.sleep(length * i / 48)
        child.kill()
        child.join()
        drew |= drew_noise(pipe)
        outcomes.add(drew)
        spent = check(folder, drew, spent)
    assert outcomes == {True, False}, "the kills missed either the time before or the time after the noise"
    assert main(arguments(folder)) == 0


def test_a_cancelled_run_keeps_its_charge_and_leaves_no_file(folder, monkeypatch, capsys):
    monkeypatch.setattr(
        "dpsyn_core.schema.codec.Codec.decode", lambda *a, **k: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    assert main(arguments(folder)) == 130
    assert "stays charged" in capsys.readouterr().err
    assert debits(folder) == 1
    assert list((folder / "out").iterdir()) == []


def dawdle():
    """Makes the step after the noise long enough to be interrupted on any machine, and listens to interrupts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background work deaf to them
    Codec.decode = lambda *a, **k: time.sleep(60)


def test_an_interrupt_from_the_keyboard_keeps_the_charge(folder):
    child, pipe = start(folder, dawdle)
    while pipe.recv() != "noise":
        pass
    os.kill(child.pid, signal.SIGINT)
    child.join()
    assert child.exitcode == 130
    assert check(folder, True, 0) == 1
    assert list((folder / "out").iterdir()) == []


def test_a_full_disk_under_the_output_is_one_sentence_and_the_charge_stays(folder, capsys):
    with file_limit(60_000):  # the ledger fits, the table does not
        assert main(arguments(folder)) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "t.csv" in said
    assert "has room" in said
    assert debits(folder) == 1
    assert list((folder / "out").iterdir()) == []
    assert main(arguments(folder)) == 0


def test_a_full_disk_under_the_ledger_refuses_before_anything_is_counted(folder, capsys):
    with file_limit(100):
        assert main(arguments(folder)) == 2
    assert "nothing was counted" in capsys.readouterr().err
    assert debits(folder) == 0
    assert list((folder / "out").iterdir()) == []


def test_a_read_only_output_folder_is_refused_before_anything_is_charged(capsys):
    with open_folder() as folder:
        prepare(folder)
        (folder / "home").mkdir(mode=0o777)
        (folder / "home").chmod(0o777)
        (folder / "out").chmod(0o555)
        with unprivileged(), pytest.MonkeyPatch.context() as patch:
            patch.setenv("DPSYN_HOME", str(folder / "home"))
            assert main(arguments(folder)) == 2
        assert "cannot write into the folder" in capsys.readouterr().err
        assert debits(folder) == 0


def test_a_read_only_home_is_refused_before_anything_is_counted(capsys):
    with open_folder() as folder:
        prepare(folder)
        (folder / "out").chmod(0o777)
        (folder / "home").mkdir()
        (folder / "home").chmod(0o555)
        with unprivileged(), pytest.MonkeyPatch.context() as patch:
            patch.setenv("DPSYN_HOME", str(folder / "home"))
            assert main(arguments(folder)) == 2
        assert "DPSYN_HOME" in capsys.readouterr().err
        assert list((folder / "out").iterdir()) == []
        assert list((folder / "home").iterdir()) == []


def starve():
    """Leaves the child less memory than its run needs."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 100 * 2**20, resource.RLIM_INFINITY))


def test_a_run_out_of_memory_is_one_calm_sentence_and_nothing_is_under_counted(folder):
    child, pipe = start(folder, starve, ("--n-records", "50000000"))
    child.join()
    drew = drew_noise(pipe)
    assert child.exitcode == 1, (folder / "said.txt").read_text()
    assert (folder / "said.txt").read_text().count("\n") == 1
    check(folder, drew, 0)
    assert not any((folder / "out").iterdir())
    assert main(arguments(folder)) == 0


def test_memory_that_runs_out_after_the_noise_keeps_the_charge(folder, monkeypatch, capsys):
    monkeypatch.setattr("dpsyn_core.schema.codec.Codec.decode", lambda *a, **k: (_ for _ in ()).throw(MemoryError))
    assert main(arguments(folder)) == 1
    assert debits(folder) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert list((folder / "out").iterdir()) == []


def test_a_limit_that_is_reached_refuses_before_anything_is_counted(folder, capsys):
    assert main(["ledger", "--dataset", "people", "--limit", "1", "--delta", "1e-6"]) == 0
    assert main(arguments(folder)) == 0
    clean(folder)
    capsys.readouterr()
    assert main(arguments(folder)) == 2
    assert "limit of dataset 'people'" in capsys.readouterr().err
    assert list((folder / "out").iterdir()) == []
    assert debits(folder) == 1
