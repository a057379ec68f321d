"""What a server prepares behind its first page: modules loaded before they are asked for, and a settled heap."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
import streamlit

from dpsyn_core.data import paths
from tests.tables.reading import read
from ui.data import loading
from ui.shared import serving
from ui.shared.serving import Traffic

ROOT = Path(__file__).resolve().parents[2]


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
        "from ui.shared import serving\n"
        "one = serving.prepare(); one.join()\n"
        "print(' '.join(sys.modules)); print(gc.get_freeze_count()); print(serving.prepare() is one)\n"
    )
    return said(code, tmp_path_factory.mktemp("home"))


def test_what_every_page_imports_is_loaded_before_a_page_asks_for_it(prepared):
    loaded = set(prepared[0].split())
    assert {"plotly.graph_objects", "pandas", "scipy.special", "ui.privacy.guarantee", "ui.report.pairs"} <= loaded
    assert {"ui.learn.race", "dpsyn_core.systems.others.mst", "plotly.graph_objs._scatter"} <= loaded


def test_libraries_are_out_of_the_collectors_sight(prepared):
    assert int(prepared[1]) > 50_000


def test_a_server_prepares_once(prepared):
    assert prepared[2] == "True"


def test_the_preparation_waits_while_a_page_is_drawn_and_goes_on_when_it_ends_or_takes_too_long():
    traffic, drawn, waited = Traffic(), threading.Event(), []
    assert traffic.quiet(0)
    page = threading.Thread(target=lambda: (traffic.__enter__(), drawn.wait(30), traffic.__exit__(None, None, None)))
    page.start()
    while traffic.quiet(0):
        pass
    waiting = threading.Thread(target=lambda: waited.append(traffic.quiet(30)))
    waiting.start()
    assert not waited
    drawn.set()
    waiting.join(30)
    page.join(30)
    assert waited == [True]


def test_a_page_that_fails_is_not_counted_for_ever():
    traffic = Traffic()
    with pytest.raises(ZeroDivisionError), traffic:
        raise ZeroDivisionError
    assert traffic.quiet(0)


def test_the_sample_as_the_app_loads_it_is_what_the_strict_reader_reads():
    loading.bundled.clear()
    table, schema = loading.bundled("sample")
    strict = read(paths("sample")[0]).table
    assert table.equals(strict)
    assert table.schema.equals(strict.schema, check_metadata=True)
    assert set(table.column_names) >= {a.name for a in schema.attributes}


def test_the_browser_is_told_once_to_fetch_the_script_that_draws_figures(app):
    address = serving.figures_script()
    assert address.startswith("/static/js/PlotlyChart.")
    assert (Path(streamlit.__file__).parent / "static" / address.removeprefix("/")).stat().st_size > 1_000_000

    def told():
        return [e for e in app.get("html") if address in e.proto.body]

    app.run()
    assert len(told()) == 1
    app.run()
    assert not told()
