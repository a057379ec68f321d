"""A server on a free port of this machine, a headless Chromium, and visitors whose every request is watched."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pandas as pd
import pytest

from dpsyn_core.data import paths

ROOT = Path(__file__).resolve().parent.parent.parent
CHROMIUM = os.environ.get("DPSYN_CHROMIUM", "/usr/bin/chromium")
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # the first two draw an address bar that nobody sees, in a process for each page, which takes a second and a half;
    # the others are those of Playwright's own list, which this takes the place of, that matter here
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,HttpsUpgrades,PaintHolding,MediaRouter,OptimizationHints,"
    "NetworkTimeServiceQuerying,PreconnectToSearch,ThirdPartyStoragePartitioning,DestroyProfileOnBrowserClose",
    "--js-flags=--single-threaded",  # V8 compiles ahead on further threads, for cores that are busy here
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# a frame of an animation that nobody sees is drawn by the processor: a place-holder that glows keeps three processes
# busy for as long as it waits, and a busy machine waits long. Animations and transitions still begin and end, so what
# listens for their end hears it. A sheet of a script needs no element and no exception of a content security policy
STILL = """(() => { const sheet = new CSSStyleSheet();
  sheet.replaceSync(`*, *::before, *::after { animation-duration: 1ms !important;
    animation-iteration-count: 1 !important; transition-duration: 1ms !important }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]; })()"""
DONE = 240_000  # milliseconds that a run may take on a busy machine
MANY = 5_000_000  # records, of which a run takes 15 s on a quiet machine
PIECES = 20  # looks at a page that keeps changing, 250 ms apart; a live counter of seconds never stops
# React draws what has arrived when it finds time: on a busy machine the end of a script comes before its last words.
# Chromium calls nothing idle while it waits for a frame, which after a change of the window may never come; a timer
# that comes in time says as much. Milliseconds
IDLE = """async () => {
  const end = performance.now() + 5000;
  while (performance.now() < end) {
    const idle = await new Promise(done => requestIdleCallback(left => done(!left.didTimeout), {timeout: 100}));
    if (idle) return;
    const start = performance.now();
    await new Promise(done => setTimeout(done, 50));
    if (performance.now() - start < 75) return;
  } }"""
WORDS = """() => [...document.querySelectorAll('[data-testid=stApp], [role=dialog]')].filter(e => e.checkVisibility())
  .map(e => e.innerText).join('\\n')"""
DRAWN = "[data-testid='stApp'][data-test-script-state='notRunning']"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """The app as a person starts it, with a home of its own."""

    def __init__(self, home, port, *options):
        self.home, self.port, self.options = home, port, options
        self.url = f"http://127.0.0.1:{port}"
        self.log = home / "app.log"
        self.process = self.start()

    def start(self):
        command = [sys.executable, "-m", "ui.start", "run", str(ROOT / "app.py"), "--server.port", str(self.port)]
        command += self.options
        environment = {**os.environ, "DPSYN_HOME": str(self.home), "DPSYN_WARM_UP": "0", "PYTHONPATH": str(ROOT)}
        with self.log.open("ab") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2).close()
            except OSError:
                time.sleep(0.2)
            else:
                return process
        raise AssertionError(self.log.read_text())

    def workers(self):
        """Process ids of the jobs under way, without those that warm up or wait for a file."""
        import psutil

        children = psutil.Process(self.process.pid).children(recursive=True)
        return [
            c.pid
            for c in children
            if "dpsyn_core.runs.jobs.worker" in (words := c.cmdline()) and not words[-1].startswith("--")
        ]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("home"), free_port())
    yield made
    made.stop()


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()


FREE = {}  # by server: contexts that visitors have left; the scripts of the app are compiled there already


class Visitor:
    """One browser context and its page. friends: addresses beside the server's that it may ask.

    A visitor without options of its own takes over a context that another one has left, with nothing of that one in
    it: a new context compiles all scripts of the app, which takes seconds.
    """

    def __init__(self, chromium, server, friends=(), **options):
        self.server, self.friends = server, friends
        free = [] if options else FREE.setdefault(server.url, [])
        self.free = None if options else free
        window = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True}
        if free:
            self.context = free.pop()
        else:
            self.context = chromium.new_context(**window, reduced_motion="reduce", **options)
            self.context.add_init_script(STILL)
        self.foreign, self.faults = [], []
        self.context.on("request", self._watch)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.set_default_timeout(90_000)

    def _watch(self, request):
        own = (self.server.url, self.server.url.replace("http", "ws"), "data:", "blob:", *self.friends)
        if not request.url.startswith(own):
            self.foreign.append(request.url)

    def open(self, name="", query=""):
        self.page.goto(f"{self.server.url}/{name}{query}")
        return self.settle()

    def go(self, title):
        """Presses a page's name at the top."""
        self.page.get_by_test_id("stTopNavLink").filter(has_text=title).click()
        return self.settle()

    def move(self, name="", query=""):
        """To another page or lab, as Back and Forward of the browser lead there: the app is not loaded again.

        Loading takes several times the work of going. Its heading of the first order differs from that of the page
        before, which tells that what stands there is new.
        """
        heading = self.page.get_by_role("heading", level=1).first
        heading.wait_for()
        before = heading.inner_text()
        self.page.evaluate(
            "at => { History.prototype.pushState.call(history, null, '', at);"
            " window.dispatchEvent(new PopStateEvent('popstate')); }",
            f"/{name}{query}",
        )
        self.page.wait_for_function(
            "before => ![before, undefined].includes(document.querySelector('h1')?.innerText)", arg=before
        )
        return self.settle()

    def look(self, name="", query=""):
        """At a page or lab, without loading the app again where it is open."""
        path, _, rest = self.page.url.removeprefix(self.server.url).partition("?")
        if not self.page.url.startswith(self.server.url):
            return self.open(name, query)
        return self.settle() if (path, rest) == (f"/{name}", query[1:]) else self.move(name, query)

    def left_clean(self):
        """Forgets who this was, and leaves the context to the next visitor of the server; False where it cannot."""
        from playwright.sync_api import Error

        try:
            if self.page.is_closed() or not self.page.url.startswith(self.server.url):
                return False
            self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
            for page in self.context.pages:
                page.close()
            self.context.clear_cookies()
        except Error:
            return False
        self.free.append(self.context)
        return True

    def settle(self):
        """Waits until nothing runs and the page's words have stopped changing, for a busy server draws in pieces."""
        self.page.wait_for_timeout(350)
        before = None
        for _ in range(PIECES):
            self.page.wait_for_selector(DRAWN, timeout=180_000)
            now = self.page.evaluate(f"() => ({IDLE})().then({WORDS})")
            if now == before:
                return self
            before = now
            self.page.wait_for_timeout(250)
        return self

    def until(self, holds, looks=60):
        """Settles until something holds, for a busy machine answers late; whether it does at last. 500 ms a look."""
        for _ in range(looks):
            if holds():
                return True
            self.page.wait_for_timeout(500)
            self.settle()
        return holds()

    def press(self, name, exact=True):
        self.page.get_by_role("button", name=name, exact=exact).first.click()
        return self.settle()

    def type(self, label, text):
        field = self.page.get_by_role("textbox", name=label, exact=True).first
        field.fill(text)
        field.press("Enter")
        return self.settle()

    def choose(self, label, option):
        box = self.page.get_by_role("combobox", name=label).first
        box.click()
        box.fill(option)
        self.page.get_by_role("option", name=option).first.click()
        return self.settle()

    def pick(self, name):
        """Presses one of a row of choices."""
        self.page.get_by_role("radio", name=name, exact=True).first.click()
        return self.settle()

    def long(self, records=str(MANY)):
        """Runs from here on write so many records that they are under way when Cancel is looked for."""
        self.look("synthesize")
        field = self.page.get_by_role("spinbutton", name="records to write")
        field.fill(records)
        field.press("Enter")
        return self.settle()

    def words(self):
        """All that stands on the page, and in a dialog above it."""
        return self.page.evaluate(WORDS)

    def dialog(self, name):
        """Opens a dialog by the words on its button."""
        self.page.get_by_role("button", name=name).first.click()
        self.page.get_by_role("dialog").wait_for()
        return self.settle()

    def close_dialog(self):
        self.page.get_by_role("dialog").get_by_label("Close").click()
        self.page.get_by_role("dialog").wait_for(state="detached")
        return self.settle()

    def upload(self, name, raw, label=0):
        files = {"name": name, "mimeType": "application/octet-stream", "buffer": raw}
        self.page.locator("input[type=file]").nth(label).set_input_files(files)
        self.page.wait_for_timeout(700)
        return self.settle()

    def download(self, name):
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name=name, exact=True).first.click()
        return Path(waiting.value.path()).read_bytes()

    def drawn(self):
        """Waits until there is a figure."""
        self.page.wait_for_selector(".js-plotly-plot .main-svg")
        return self

    def plots(self):
        """Data of every figure on the page, typed arrays as lists."""
        self.drawn().settle()
        return self.page.evaluate(
            """() => [...document.querySelectorAll('.js-plotly-plot')].map(p => p._fullData.map(d =>
            Object.fromEntries(['name','x','y','z','text'].filter(k => d[k] != null).map(k =>
            [k, k === 'name' ? d[k] : Array.from(d[k], r => (r && r.length != null && typeof r !== 'string')
            ? Array.from(r) : r)]))))"""
        )

    def close(self):
        self.context.remove_listener("request", self._watch)
        if self.free is None or not self.left_clean():
            self.context.close()
        assert not self.foreign, f"asked another machine: {self.foreign[:3]}"
        assert not self.faults, self.faults[:3]


@pytest.fixture
def visitor(chromium, server):
    made = Visitor(chromium, server)
    yield made
    made.close()


@pytest.fixture
def another(chromium, server):
    """Makes further visitors."""
    made = []

    def make(**options):
        made.append(Visitor(chromium, server, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def sample():
    """The bundled table."""
    return pd.read_csv(paths("sample")[0])


def made(visitor, method=None, timeout=DONE):
    """A finished run of a method (the default when None), from the Synthesize page."""
    visitor.go("Synthesize")
    if method:
        visitor.choose("system", method)
    before = visitor.page.get_by_text(re.compile("done in")).count()
    visitor.page.get_by_role("button", name=re.compile("^Spend epsilon")).click()
    visitor.page.wait_for_function(
        "n => (document.body.innerText.match(/done in/g) || []).length > n", arg=before, timeout=timeout
    )
    return visitor.settle()


@pytest.fixture(scope="session")
def finished(chromium, server):
    """A visitor with a finished quick run, shared by tests that only look."""
    one = Visitor(chromium, server)
    one.open()
    made(one, "independent")
    yield one
    one.close()
