"""How the app is served: the settings that harden it, and that a server asks no other machine for anything."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from streamlit import config, net_util
from streamlit.web import bootstrap

ROOT = Path(__file__).resolve().parents[2]
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def test_the_settings_that_harden_the_server_stand():
    server = CONFIG["server"]
    assert server["address"] == "127.0.0.1" and set(server["allowedHosts"]) == {"localhost", "127.0.0.1"}
    assert server["enableXsrfProtection"] is server["enableCORS"] is True
    assert server["enableStaticServing"] is False
    assert server["maxUploadSize"] == 200 and server["disconnectedSessionTTL"] <= 120
    assert CONFIG["client"]["showErrorDetails"] == "none" and CONFIG["client"]["toolbarMode"] == "viewer"
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert (
        CONFIG["client"]["allowedOrigins"] == []
    )  # no page that holds this one in a frame may steer it or its uploads


def test_a_server_for_others_asks_no_public_host_for_its_address(monkeypatch, capsys):
    asked = []
    options = {
        **{f"{part}.{name}": value for part in ("logger", "server") for name, value in CONFIG[part].items()},
        "server.address": "0.0.0.0",
    }
    monkeypatch.setattr(config, "get_option", lambda name: options.get(name))
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append("external"))
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: "127.0.0.1")
    bootstrap._print_url(False)
    assert not asked


def test_pandas_is_there_as_a_whole_before_a_page_draws_its_first_figure():
    """Plotly uses it as soon as another thread has begun to load it, as the preparation of the server does."""
    code = """if True:
        import sys
        from streamlit.testing.v1 import AppTest
        from ui.shared import serving
        import ui.learn.count as lab

        serving.prepare = lambda: None
        drawn, figure = [], lab.figure
        lab.figure = lambda *a, **k: (drawn.append(hasattr(sys.modules.get("pandas"), "Series")), figure(*a, **k))[1]
        app = AppTest.from_file(sys.argv[1], default_timeout=300)
        app.query_params.update({"lab": "count", "open": "1"})
        app.run()
        assert drawn == [True] and not app.exception, drawn
    """
    environment = {**os.environ, "DPSYN_CLASSROOM": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "app.py")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_what_the_first_page_needs_is_loaded_before_anybody_comes():
    code = (
        "import importlib, sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "from ui.start import NEEDED\n"
        "for name in NEEDED: importlib.import_module(name)\n"
        "from ui.shared import serving\n"
        "serving.prepare = lambda: None  # loads what later pages need, and may do so before this one is drawn\n"
        "before = set(sys.modules)\n"
        f"AppTest.from_file({str(ROOT / 'app.py')!r}, default_timeout=300).run()\n"
        "late = {n for n in set(sys.modules) - before if n.split('.')[0] in ('ui', 'dpsyn_core', 'pandas', 'scipy')}\n"
        "print(sorted(late), 'numba' in before)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DPSYN_WARM_UP": "0"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.split("\n")[0] == "[] False"
