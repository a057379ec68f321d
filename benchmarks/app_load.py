"""Thirty visitors of one app server while two runs are under way: seconds until a page is drawn.

Sessions speak Streamlit's own protocol over WebSockets, as browsers do; with --browser one of the visits is made in a
real Chromium as well. With --class the server is one for a class (`dpsyn app --class`), nothing runs, and every visit
opens one lab by its link in a session of its own, as a reload does. Everything stays on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("", "schema", "privacy", "synthesize", "report", "export", "learn")
CHROMIUM = os.environ.get("DPSYN_CHROMIUM", "/usr/bin/chromium")


def session(port: int) -> connect:
    """A new session."""
    url, origin = f"ws://127.0.0.1:{port}/_stcore/stream", f"http://127.0.0.1:{port}"
    spoken = [Subprotocol("streamlit")]
    return connect(url, origin=Origin(origin), subprotocols=spoken, max_size=1 << 28, open_timeout=60)


async def visit(link: ClientConnection, page: str, query: str = "") -> float:
    """Asks for a page and waits until its script has finished; seconds."""
    start = time.perf_counter()
    ask = BackMsg()
    ask.rerun_script.page_name = page
    ask.rerun_script.query_string = query
    await link.send(ask.SerializeToString())
    async for raw in link:
        got = ForwardMsg()
        got.ParseFromString(raw)
        if got.WhichOneof("type") == "script_finished":
            return time.perf_counter() - start
    msg = "the server closed the session"
    raise RuntimeError(msg)


async def visitor(port: int, number: int, rounds: int, pause: float) -> list[tuple[str, float]]:
    """One visitor: opens a session, then a page every `pause` seconds, each visitor at another time."""
    await asyncio.sleep(pause * number / 30)
    out = []
    start = time.perf_counter()
    async with session(port) as link:
        await visit(link, "")
        out.append(("first visit", time.perf_counter() - start))
        for i in range(rounds):
            await asyncio.sleep(pause)
            page = PAGES[(number + i) % len(PAGES)]
            if page in known():
                out.append((page or "data", await visit(link, page)))
    return out


async def pupil(port: int, number: int, rounds: int, pause: float) -> list[tuple[str, float]]:
    """One of a class: opens a lab by its link every `pause` seconds, each at another time."""
    from ui.learn import LABS

    await asyncio.sleep(pause * number / 60)
    out = []
    for i in range(rounds):
        lab = LABS[(number + i) % len(LABS)]
        start = time.perf_counter()
        async with session(port) as link:
            await visit(link, "", f"lab={lab}&pin=1&open=1")
            out.append((f"lab {lab}", time.perf_counter() - start))
        await asyncio.sleep(max(0.0, pause - out[-1][1]))
    return out


def known() -> set[str]:
    """Pages that exist."""
    return {"", *(p.stem for p in (ROOT / "pages").glob("*.py"))}


def runs(home: Path, count: int) -> list[subprocess.Popen[bytes]]:
    """Runs of the default system on the sample, one after the other in each of `count` processes, until stopped."""
    code = (
        "from dpsyn_core.data import paths; from dpsyn_core.runs.synthesis import synthesize\n"
        "from dpsyn_core.schema.document import Schema; from dpsyn_core.tables.read import read_table\n"
        "a, b = paths('sample'); t, s = read_table(a), Schema.load(b)\n"
        "import os; os.nice(10)  # as dpsyn_core.runs.jobs.worker does\n"
        "while True: synthesize(t, s, epsilon=1.0, delta=1e-9, rng=0)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DPSYN_HOME": str(home / "runs")}
    return [subprocess.Popen([sys.executable, "-c", code], env=environment) for _ in range(count)]


def serve(home: Path, port: int, *, for_class: bool = False) -> subprocess.Popen[bytes]:
    """The server under test."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DPSYN_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as an installation does it
    if for_class:
        environment |= {"DPSYN_CLASSROOM": "1", "DPSYN_WARM_UP": "0"}
    command = [sys.executable, "-m", "ui.start", "run", str(ROOT / "app.py"), "--server.port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2).close()
        except OSError:
            time.sleep(0.1)
        else:
            return process
    msg = "the server did not start"
    raise RuntimeError(msg)


def in_a_browser(port: int) -> list[tuple[str, float]]:
    """Seconds until each page is drawn in Chromium, from a press at the top."""
    from playwright.sync_api import sync_playwright

    drawn = "[data-testid='stApp'][data-test-script-state='notRunning']"
    out = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(f"http://127.0.0.1:{port}/")
        page.get_by_role("heading", level=1).wait_for(timeout=60_000)
        page.wait_for_selector(drawn, timeout=60_000)
        out.append(("first visit", time.perf_counter() - start))
        for title in ("Schema", "Privacy", "Synthesize", "Report", "Export"):
            before = page.get_by_role("heading", level=1).inner_text()
            start = time.perf_counter()
            page.get_by_test_id("stTopNavLink").filter(has_text=title).click()
            page.wait_for_function("t => document.querySelector('h1')?.innerText !== t", arg=before, timeout=60_000)
            page.wait_for_selector(drawn, timeout=60_000)
            out.append((title.lower(), time.perf_counter() - start))
        browser.close()
    return out


def table(rows: list[tuple[str, float]]) -> str:
    """Median, 95th percentile and worst seconds by page."""
    lines = ["| page | visits | median s | 95 % s | worst s |", "|---|---|---|---|---|"]
    for page in dict.fromkeys(p for p, _ in rows):
        values = sorted(s for p, s in rows if p == page)
        high = values[min(len(values) - 1, round(0.95 * (len(values) - 1)))]
        lines.append(f"| {page} | {len(values)} | {statistics.median(values):.2f} | {high:.2f} | {values[-1]:.2f} |")
    return "\n".join(lines)


async def opening(port: int, pause: float) -> float:
    """Opens a fresh server as its operator does before the class comes; seconds."""
    start = time.perf_counter()
    async with session(port) as link:
        await visit(link, "")
    took = time.perf_counter() - start
    await asyncio.sleep(pause)
    return took


async def everybody(
    port: int, visitors: int, rounds: int, pause: float, *, for_class: bool = False
) -> list[tuple[str, float]]:
    """All visitors at once."""
    one = pupil if for_class else visitor
    found = await asyncio.gather(*(one(port, i, rounds, pause) for i in range(visitors)))
    return [row for rows in found for row in rows]


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=6, help="pages that each visitor opens after the first")
    parser.add_argument("--pause", type=float, default=10.0, help="seconds between two pages of a visitor")
    parser.add_argument("--runs", type=int, default=2, help="runs under way all the time")
    parser.add_argument("--browser", action="store_true", help="also open the pages in Chromium, under the same load")
    parser.add_argument("--class", action="store_true", dest="for_class", help="a server for a class, its labs alone")
    given = parser.parse_args()
    if given.for_class:
        given.runs, given.browser = 0, False
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        server = serve(home, port, for_class=given.for_class)
        opened = asyncio.run(opening(port, given.pause))
        workers = runs(home, given.runs)
        try:
            rows = asyncio.run(loaded(port, given, browser=given.browser))
            used = sum(psutil.Process(server.pid).cpu_times()[:2])
        finally:
            for process in (*workers, server):
                process.terminate()
            for process in (*workers, server):
                process.wait(20)
    name = f"{given.visitors} visitors, a page every {given.pause:g} s each, {given.runs} runs, {os.cpu_count()} cores"
    print(f"{name}, load {os.getloadavg()[0]:.1f}\n\n{table(rows[0])}")
    print(f"\nThe very first page of the server, before the class came: {opened:.2f} s.")
    print(f"\nThe server used {used:.1f} s of processor for {len(rows[0])} visits: {used / len(rows[0]):.3f} s each.")
    if rows[1]:
        print(f"\nOne of them in Chromium, meanwhile:\n\n{table(rows[1])}")
    return 0


async def loaded(
    port: int, given: argparse.Namespace, *, browser: bool
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """The visits, and those of a browser meanwhile."""
    crowd = asyncio.create_task(everybody(port, given.visitors, given.rounds, given.pause, for_class=given.for_class))
    await asyncio.sleep(given.pause)
    seen = await asyncio.to_thread(in_a_browser, port) if browser else []
    return await crowd, seen


if __name__ == "__main__":
    sys.exit(main())
