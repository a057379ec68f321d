"""Fixtures for tests of the app, and the options that say which tests a run leaves out."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # Streamlit does this for the folder of app.py

# every test that starts a process would compile all that this process imports
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
if "PYTEST_XDIST_WORKER" in os.environ:  # as many processes as cores: threads of torch would wait for one another
    os.environ.setdefault("OMP_NUM_THREADS", "1")

pytest_plugins = ["tests.left_out", "tests.tried_again", "tests.chance", "tests.nursery", "tests.together"]


@pytest.fixture(autouse=True)
def looks_of_this_test(tmp_path_factory, monkeypatch):
    """No test is told that rules of its table were tried by another one, whose table has the same name."""
    from dpsyn_core.privacy import looks

    own, real = tmp_path_factory.mktemp("looks"), looks.home
    monkeypatch.setattr(looks, "home", lambda: real() if "DPSYN_HOME" in os.environ else own)


@pytest.fixture(scope="session")
def components():
    """What packages bring for Streamlit's pages. AppTest reads the metadata of all packages for it, in every test."""
    from streamlit.components.v2 import manifest_scanner

    return manifest_scanner.scan_component_manifests()


@pytest.fixture
def app(tmp_path, monkeypatch, workers, components):
    """The app of a visitor who has just come, with nobody else's jobs or ledger."""
    import streamlit as st
    from streamlit.components.v2 import manifest_scanner
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.testing.v1 import AppTest, app_test

    from ui.shared import serving

    class Served(PagesManager):
        """A server that has been asked before: AppTest forgets on every run that `st.navigation` was called."""

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            PagesManager.uses_pages_directory = False

    monkeypatch.setattr(app_test, "PagesManager", Served)
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", lambda *_: components)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DPSYN_WARM_UP", "0")
    monkeypatch.setattr(serving, "prepare", lambda: None)  # a thread that loads what pages need; tested by itself
    st.cache_resource.clear()
    st.cache_data.clear()
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
