"""What a server prepares behind its first page: modules loaded before they are asked for, and a settled heap."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def said(code, tmp_path):
    """What a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False,
        env={"PATH": "", "PYTHONPATH": str(ROOT), "DPSYN_HOME": str(tmp_path), "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-800:]
    return done.stdout.split("\n")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """What a process holds after the preparation: [modules, frozen objects, whether a second call did nothing]."""
    code = (
        "import gc, sys\n"
        "from ui import serving\n"
        "one = serving.prepare(); one.join()\n"
        "print(' '.join(sys.modules)); print(gc.get_freeze_count()); print(serving.prepare() is one)\n"
    )
    return said(code, tmp_path_factory.mktemp("home"))


def test_what_every_page_imports_is_loaded_before_a_page_asks_for_it(prepared):
    loaded = set(prepared[0].split())
    assert {"plotly.graph_objects", "pandas", "scipy.special", "ui.guarantee", "ui.panels.pairs"} <= loaded
    assert {"ui.labs.race", "dpsyn_core.synthesizers.mst", "plotly.graph_objs._scatter"} <= loaded


def test_libraries_are_out_of_the_collectors_sight(prepared):
    assert int(prepared[1]) > 50_000


def test_a_server_prepares_once(prepared):
    assert prepared[2] == "True"
