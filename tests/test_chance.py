"""Tests draw the same noise in every run; those that are about chance do not, and say how often they fail by it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpsyn_core.privacy.noise.system import SystemNoise
from tests.chance import SHARES, TOTAL

ROOT = Path(__file__).resolve().parent
SAMPLE = """
import pytest
from pathlib import Path
from dpsyn_core.privacy.noise.system import SystemNoise
def drawn():
    return " ".join(map(str, SystemNoise().gaussian(1000.0, 8)))
@pytest.fixture(scope="module")
def shared():
    return drawn()
def test_one(shared): Path("one").write_text(drawn() + drawn() + shared)
def test_two(shared): Path("two").write_text(drawn() + shared)
@pytest.mark.chance("samplers")
def test_chance(shared): Path("chance").write_text(drawn())
"""


def seen(folder, *options):
    folder.mkdir()
    (folder / "test_sample.py").write_text(SAMPLE)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  chance: a kind\n")
    command = [sys.executable, "-m", "pytest", "-q", "-ptests.chance", "-pno:cacheprovider", "test_sample.py", *options]
    environment = {"PYTHONPATH": str(ROOT.parent), "PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return {name: p.read_text() for name in ("one", "two", "chance") if (p := folder / name).exists()}


def test_a_test_draws_the_same_in_every_run_and_order_unless_it_is_about_chance(tmp_path):
    whole, part = seen(tmp_path / "a"), seen(tmp_path / "b", "-k", "two or chance")
    assert whole["two"] == part["two"]
    assert whole["chance"] != part["chance"]
    assert whole["one"] == seen(tmp_path / "c", "-k", "one")["one"]


def test_two_sources_of_one_test_share_no_noise():
    assert (SystemNoise().gaussian(100.0, 50) != SystemNoise().gaussian(100.0, 50)).any()


def test_the_shares_add_up_to_at_most_one_in_ten_thousand_and_each_is_used():
    assert TOTAL == 1e-4 and 0 < sum(SHARES.values()) <= TOTAL
    marked = {}
    for path in ROOT.rglob("test_*.py"):
        if path != Path(__file__) and path.parent.name != "tools":  # which holds tests of the mark itself
            for words in re.findall(r"mark\.chance\(([^)]*)\)", path.read_text(encoding="utf-8")):
                marked.setdefault(path.relative_to(ROOT).parts[0], set()).update(re.findall(r'"([^"]+)"', words))
    assert set().union(*marked.values()) == set(SHARES)
    assert set(marked) == {"audit", "measure", "privacy", "runs"}


@pytest.mark.parametrize("folder", ["audit", "privacy/noise"])
def test_every_file_of_audits_and_of_noise_draws_as_a_run_does(folder):
    files = sorted((ROOT / folder).glob("test_*.py"))
    assert files
    assert [p.name for p in files if "pytestmark = " not in (t := p.read_text("utf-8")) or "mark.chance" not in t] == []
