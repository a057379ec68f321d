"""Makes the pictures in docs/img: every page in Debian's Chromium, in light and dark; `make screenshots`."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "img"
CHROMIUM = os.environ.get("DPSYN_CHROMIUM", "/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WIDTH, HEIGHT, TALLEST = 1280, 800, 1300
DRAWN = "[data-testid='stApp'][data-test-script-state='notRunning']"
# picture -> page at the top, and what to press there first
WALK = (
    ("data", "Data", ()),
    ("schema", "Schema", ()),
    ("privacy", "Privacy", ()),
    ("questions", "Questions", ()),
    ("synthesize", "Synthesize", ()),
    ("report-asked", "Report", ("Explore", "Your questions")),
    ("report", "Report", ("Overview",)),
    ("report-columns", "Report", ("Explore", "Columns")),
    ("report-questions", "Report", ("Explore", "Ranges")),
    ("report-incomes", "Report", ("Explore", "Incomes")),
    ("report-publishable", "Report", ("Publishable",)),
    ("export", "Export", ()),
    ("learn", "Learn", ()),
)


def main() -> int:
    """Starts a server on a free port, walks through the app in both themes, and stops the server."""
    from playwright.sync_api import sync_playwright

    OUT.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as home:
        server = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", str(port)],
            cwd=ROOT,
            env={**os.environ, "DPSYN_HOME": home, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health")
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                walk(browser, f"http://127.0.0.1:{port}", "light")
                walk(browser, f"http://127.0.0.1:{port}", "dark")
                browser.close()
        finally:
            server.terminate()
            server.wait(20)
    return 0


def _wait(url: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    msg = f"no server answers at {url}"
    raise RuntimeError(msg)


def walk(browser: Browser, url: str, theme: Literal["light", "dark"]) -> None:
    """One visitor: declares the question that README tells of, makes a run, then looks at every page."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(240_000)
    page.goto(url)
    _settle(page)
    _go(page, "Questions")
    page.get_by_role("button", name=re.compile("gap of INCWAGE")).first.click()
    _settle(page)
    _go(page, "Synthesize")
    page.get_by_role("button", name=re.compile("^Spend epsilon")).first.click()
    page.get_by_text(re.compile("done in")).first.wait_for()
    for name, title, presses in WALK:
        _go(page, title)
        for press in presses:
            page.get_by_role("radio", name=press, exact=True).click()
            _settle(page)
        shoot(page, OUT / (f"{name}.png" if theme == "light" else f"{name}-dark.png"))
    context.close()


def _go(page: Page, title: str) -> None:
    page.get_by_test_id("stTopNavLink").filter(has_text=title).click()
    _settle(page)


def _settle(page: Page) -> None:
    page.wait_for_timeout(600)
    page.wait_for_selector(DRAWN)
    page.wait_for_timeout(900)


def shoot(page: Page, path: Path) -> None:
    """A picture as tall as the page (at most TALLEST), in all its colours: a palette dulls the rare ones of figures."""
    from io import BytesIO

    from PIL import Image

    tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": WIDTH, "height": max(HEIGHT, min(TALLEST, tall))})
    page.wait_for_timeout(700)
    picture = Image.open(BytesIO(page.screenshot()))
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    picture.convert("RGB").save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    sys.exit(main())
