"""Tables from upload to CSV in Chromium, and what the pages say against what pandas finds in the file.

`python -m benchmarks.walks [--set second|...|eighth] [--only loans] [--shots FOLDER]`. Each walk has another width,
theme and language; somebody agrees with every proposal. Prints Markdown, and each contradiction below.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.app_load import CHROMIUM, serve
from benchmarks.walk_judge import Found, Said, judge
from benchmarks.walk_tables import Walked
from benchmarks.walk_tables_second import SETS

WIDTHS: tuple[int, ...] = (1280, 390, 1920)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LANGUAGES = ("en-US", "en-US", "de-DE", "de-DE")
DRAWN = "[data-testid='stApp'][data-test-script-state='notRunning']"
SLOW, SHORT = 150_000, 20_000  # milliseconds
CUT = """() => ['stMain', 'stSidebar', 'stHeader']
  .flatMap(part => [...document.querySelectorAll(`[data-testid=${part}] *`)])
  .filter(e => [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()) && e.clientWidth > 1)
  .filter(e => !e.closest('[data-testid=stDataFrame], svg, style, script, input, [data-testid=stSelectbox]'))
  .filter(e => !e.closest('[data-testid=stIconMaterial]'))
  .filter(e => getComputedStyle(e).overflowX != 'visible' && e.scrollWidth > e.clientWidth + 1)
  .map(e => e.textContent.trim().slice(0, 60))"""
WIDER = "() => { const m = document.querySelector('[data-testid=stMain]'); return m.scrollWidth - m.clientWidth; }"


CELLS = """() => { const all = document.querySelectorAll('[data-testid=stDataFrame]');
  return [...all[all.length - 1].querySelectorAll('canvas table tbody tr')]
    .map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent.trim())); }"""


@dataclass(frozen=True, slots=True)
class Walk:
    """One walk: its kind, clicks, seconds, what was found, faults of the pages, and the first words of the verdict."""

    name: str
    look: str
    clicks: int
    seconds: float
    found: Found
    faults: list[str]
    verdict: str


class Walker:
    """One browser page, by the keys of the widgets, so that it is the same in every language."""

    def __init__(self, page: Any, url: str, shots: Path | None, name: str) -> None:
        self.page, self.url, self.shots, self.name, self.clicks = page, url, shots, name, 0
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.set_default_timeout(SLOW)

    def settle(self) -> None:
        """Until nothing runs and the words stay."""
        before = None
        self.page.wait_for_timeout(350)
        for _ in range(40):
            self.page.wait_for_selector(DRAWN)
            now = self.words()
            if now == before:
                return
            before = now
            self.page.wait_for_timeout(300)

    def words(self) -> str:
        """All that stands on the page."""
        return str(self.page.get_by_test_id("stApp").inner_text())

    def press(self, key: str) -> None:
        """A press on a widget; with a help text it is drawn twice, for wide windows and for narrow ones."""
        self.clicks += 1
        self.page.locator(f".st-key-{key} button:visible").first.click()
        self.settle()

    def has(self, key: str) -> bool:
        """Whether a widget stands on the page."""
        return bool(self.page.locator(f".st-key-{key} button:visible").count())

    def look(self, what: str) -> None:
        """A picture, and words that are cut off or a page wider than its window."""
        if self.shots is not None:
            self.page.screenshot(path=str(self.shots / f"{self.name}-{what}.png"), full_page=False)
        cut, wider = self.page.evaluate(CUT), self.page.evaluate(WIDER)
        self.faults += [f"{what}: cut off: {c}" for c in cut] + ([f"{what}: wider by {wider}"] if wider > 0 else [])
        if "Traceback" in self.words():
            self.faults.append(f"{what}: a traceback")

    def cells(self) -> list[list[str]]:
        """The rows in view of the last table of the page: a canvas, which says its cells to readers of screens."""
        last = self.page.get_by_test_id("stDataFrame").last
        last.scroll_into_view_if_needed(timeout=SHORT)
        self.page.wait_for_function(f"({CELLS})().length > 0", timeout=SHORT)
        return [[str(cell) for cell in row] for row in self.page.evaluate(CELLS)]

    def view(self, index: int) -> None:
        """One of the views that stand behind the report's second tab."""
        for row, place in (("report_view", 1), ("report_explore", index)):
            self.page.locator(f".st-key-{row} [role=radio]").nth(place).click()
            self.settle()
        self.page.wait_for_timeout(600)


def walk(walker: Walker, walked: Walked) -> tuple[Said, float]:
    """From the address to the file and the report."""
    page = walker.page
    page.goto(walker.url)
    walker.settle()
    start = time.perf_counter()
    page.locator(".st-key-data_way [role=radio]").nth(1).click()
    walker.settle()
    walker.clicks += 2  # the choice of a way, and the file
    page.locator("input[type=file]").first.set_input_files(
        {"name": f"{walked.name}.csv", "mimeType": "text/csv", "buffer": walked.raw()}
    )
    page.locator(".st-key-quick_to_guide button:visible").first.wait_for()
    walker.settle()
    walker.look("data")
    if walked.person is not None:
        walker.press("take_identifier")
        walker.press("ladder_5")
    walker.press("quick_to_guide")
    walker.look("guide")
    walker.press("guide_agree")
    for key in ("unit_known_schema", "unit_known_data"):
        if walker.has(key):
            walker.press(key)
    walker.press("guide_run")
    page.locator(".st-key-quick_csv button:visible").first.wait_for()
    walker.settle()
    walker.clicks += 1
    with page.expect_download() as waiting:
        page.locator(".st-key-quick_csv button:visible").first.click()
    raw = Path(waiting.value.path()).read_bytes()
    seconds = time.perf_counter() - start
    walker.look("result")
    walker.press("quick_report")
    page.locator(".st-key-report_view").first.wait_for()
    walker.settle()
    said = walker.words()
    walker.look("report")
    walker.view(0)
    walker.look("columns")
    columns = walker.cells()
    walker.view(2)
    walker.look("groups")
    return Said(
        said, columns, walker.cells() if walker.page.get_by_test_id("stDataFrame").count() else [], raw
    ), seconds


def walk_all(port: int, given: argparse.Namespace) -> list[Walk]:
    """Every table in a visit of its own."""
    from playwright.sync_api import sync_playwright

    from ui.shared.text import catalogue

    out = []
    wanted = set(filter(None, given.only.split(",")))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for i, walked in enumerate(SETS[given.set]()):
            if wanted and walked.name not in wanted:
                continue
            width, theme = WIDTHS[i % 3], THEMES[i % 2]
            locale = "de-DE" if walked.german else LANGUAGES[i % 4]
            german = locale == "de-DE"
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=theme, locale=locale, accept_downloads=True
            )
            walker = Walker(context.new_page(), f"http://127.0.0.1:{port}/", given.shots, walked.name)
            said, seconds = walk(walker, walked)
            context.close()
            words = catalogue("de" if german else "en")
            figures = {k.partition(".")[2]: v for k, v in words.items() if k.startswith("figure.")}
            if given.shots is not None:
                (given.shots / f"{walked.name}.csv").write_bytes(said.raw)
                (given.shots / f"{walked.name}.txt").write_text(said.words, encoding="utf-8")
            found = judge(walked, said, figures, german=german)
            heads = [
                v.partition("{")[0].strip() for k, v in figures.items() if k.startswith("verdict_") and v[0].isupper()
            ]
            begins = tuple(h for h in heads if len(h) > 5)
            lead = next((s for s in said.words.splitlines() if s.startswith(begins)), "")
            look = f"{width} {theme} {locale[:2]}"
            out.append(Walk(walked.name, look, walker.clicks, seconds, found, walker.faults, lead))
            print(printed(out[-1:]), file=sys.stderr)
        browser.close()
    return out


def printed(walks: list[Walk]) -> str:
    """The table, then what is wrong."""
    lines = [
        "| table | look | clicks | s | figures compared | contradicted | cannot be | faults |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for w in walks:
        cells = (w.name, w.look, w.clicks, f"{w.seconds:.0f}", w.found.claims, len(w.found.contradictions),
                 "; ".join(f"{k} ({v})" for k, v in w.found.never.items()) or "none", len(w.faults))  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    for w in walks:
        lines += [f"\n{w.name}: {w.verdict}", *(f"- {x}" for x in (*w.found.contradictions, *w.faults))]
    return "\n".join(lines)


def main() -> int:
    """Walks, judges and prints; 1 where a page is contradicted or a record cannot be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of tables, with commas")
    parser.add_argument("--set", choices=SETS, default="first", help="of tables")
    parser.add_argument("--shots", type=Path, help="a folder for pictures, files and words")
    given = parser.parse_args()
    if given.shots is not None:
        given.shots.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = serve(Path(folder), port)
        try:
            walks = walk_all(port, given)
        finally:
            server.terminate()
            server.wait(20)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n\n{printed(walks)}")
    return int(any(w.found.contradictions or w.found.never or w.faults for w in walks))


if __name__ == "__main__":
    sys.exit(main())
