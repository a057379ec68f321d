"""Serving: what a server prepares once, behind its first page, so that every later page opens quickly."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import threading
from functools import cache

# what pages import when they are first opened, those first that a visitor is likely to open first
LIBRARIES = ("plotly.graph_objects", "scipy.special", "dpsyn_core.metrics.expected", "pyarrow.parquet", "pandas")
BREATH = 0.02  # seconds between two imports: a page that is being drawn meanwhile goes first


@cache
def prepare() -> threading.Thread:
    """Starts, once in this process, the thread that loads what pages will need and then settles the heap."""
    thread = threading.Thread(target=_prepare, name="dpsyn-prepare", daemon=True)
    thread.start()
    return thread


def _prepare() -> None:
    import ui
    from dpsyn_core.synthesizers import registry
    from ui import noise

    pause = threading.Event()
    for name in (*LIBRARIES, *(m.name for m in pkgutil.walk_packages(ui.__path__, "ui."))):
        importlib.import_module(name)
        pause.wait(BREATH)
    for name in registry.names():
        registry.config_class(name)
        pause.wait(BREATH)
    noise.drawn(1.0, 1e-9, "add-remove", 1, (), 91, is_dark=False)  # Plotly loads most of itself with its first figure
    settle()


def settle() -> None:
    """Takes all objects made so far out of the garbage collector's sight.

    Streamlit collects all generations after every run of a page. Without this it walks, every time and with the
    interpreter held, through 200,000 objects of libraries that never become garbage: 80 of the 100
    milliseconds of processor that a small page took. What a page makes later is collected as before.
    """
    gc.collect()
    gc.freeze()
