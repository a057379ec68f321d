"""Serving: what a server prepares once, behind its first page, so that every later page opens quickly."""

import gc
import importlib
import pkgutil
import threading
from functools import cache
from pathlib import Path
from types import TracebackType

import streamlit as st

from dpsyn_core.platforms import forbid_core_dumps
from ui.shared.access import classroom

# what pages import when they are first opened, those first that a visitor is likely to open first
LIBRARIES = ("plotly.graph_objects", "scipy.special", "dpsyn_core.evaluate.noise_error", "pyarrow.parquet", "pandas")
FIGURES = "PlotlyChart.*.js"  # the part of Streamlit's page that draws figures: 5 MB of script
DRAWN = 3.0  # seconds from its last element until a browser on a slow machine has drawn the first page
FETCHED = "figures_fetched"  # key of the session that has been told to fetch it
LAST = ("scipy.stats", "altair", "openpyxl", "pyarrow.dataset")  # what the first report and the first export take
PATIENCE = 1.0  # seconds that an import waits for pages that are being drawn


class Traffic:
    """Counts pages that are being drawn now, so that the preparation gives way to them."""

    def __init__(self) -> None:
        """No page is being drawn."""
        self._changed = threading.Condition()
        self._pages = 0

    def __enter__(self) -> None:
        """A page begins."""
        with self._changed:
            self._pages += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """A page ends, well or not."""
        with self._changed:
            self._pages -= 1
            self._changed.notify_all()

    def quiet(self, patience: float = PATIENCE) -> bool:
        """Waits until no page is being drawn; whether that came within `patience` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._pages, patience)


TRAFFIC = Traffic()
_LOCK = threading.Lock()
_started: list[threading.Thread] = []


def prepare() -> threading.Thread:
    """Starts, once in this process, the thread that loads what pages will need and calls `settle`."""
    with _LOCK:
        if not _started:
            forbid_core_dumps()
            _started.append(threading.Thread(target=_prepare, name="dpsyn-prepare", daemon=True))
            _started[0].start()
    return _started[0]


def _prepare() -> None:
    import ui

    TRAFFIC.quiet()
    settle()  # at once for the visitors who come meanwhile
    for name in (*LIBRARIES, *(m.name for m in pkgutil.walk_packages(ui.__path__, "ui."))):
        importlib.import_module(name)
        TRAFFIC.quiet()
    from dpsyn_core.evaluate import base as metrics
    from dpsyn_core.systems import registry
    from ui.data.reading import readers
    from ui.privacy import noise

    if classroom():  # no run, no file and no report comes
        importlib.import_module("ui.learn.frame").warm()
        settle()
        return
    for name in registry.names():
        registry.config_class(name)
        TRAFFIC.quiet()
    metrics.names()  # imports them all
    for name in LAST:
        importlib.import_module(name)
        TRAFFIC.quiet()
    readers().warm()
    noise.drawn(1.0, 1e-9, "add-remove", 1, 91, is_dark=False)  # Plotly loads most of itself with its first figure
    settle()


def load_whole() -> None:
    """Waits until pandas is there as a whole, and loads it where nobody has begun to.

    Plotly and Streamlit look for it among the modules that are loaded, and find one that another thread has half
    loaded: a figure that was drawn meanwhile failed, for the visitors who came first.
    """
    importlib.import_module("pandas")


def settle() -> None:
    """Excludes all objects made so far from garbage collection.

    Streamlit collects all generations after every run of a page. Without this it walks, every time and with the
    interpreter held, through 200,000 objects of libraries that never become garbage: 80 of the 100
    milliseconds of processor that a small page took. What a page makes later is collected as before.
    """
    gc.collect()
    gc.freeze()


@cache
def figures_script() -> str | None:
    """Address of the script that draws figures, from the server's root; None when Streamlit has moved it."""
    found = sorted((Path(st.__file__).parent / "static" / "static" / "js").glob(FIGURES))
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"{base and '/' + base}/static/js/{found[0].name}" if found else None


def fetch_figures() -> None:
    """Lets the browser fetch and read, while its visitor reads the first page, the script that figures will need.

    Reading it keeps the browser busy for a second, so that it waits until the page itself is drawn.
    """
    script = figures_script()
    if script is None or st.session_state.get(FETCHED):
        return
    st.session_state[FETCHED] = True
    st.html(
        f"<script>setTimeout(() => (window.requestIdleCallback || setTimeout)(() => import('{script}')), "
        f"{1000 * DRAWN:.0f})</script>",
        unsafe_allow_javascript=True,
    )
