"""Each page as somebody meets it: words, widgets, height, where the primary press is, headings, seconds until usable.

`python -m benchmarks.pages [--shots FOLDER] [--only report,export] [--theme dark] [--language de]`. One visitor makes a
run on the sample, then opens every page at 1280 x 800 and at 390 x 844. Prints Markdown; faults stand below the table.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.app_load import CHROMIUM, serve
from benchmarks.walks import CUT, WIDER, Walker

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WINDOWS = ((1280, 800), (390, 844))
# page -> (its address, key and place of the choices that are pressed there)
PAGES: dict[str, tuple[str, tuple[tuple[str, int], ...]]] = {
    "data": ("", ()),
    "schema": ("schema", ()),
    "privacy": ("privacy", ()),
    "questions": ("questions", ()),
    "synthesize": ("synthesize", ()),
    "report": ("report", (("report_view", 0),)),
    "report, explore": ("report", (("report_view", 1),)),
    "report, attacks": ("report", (("report_view", 2),)),
    "report, publishable": ("report", (("report_view", 3),)),
    "export": ("export", ()),
    "learn": ("learn", ()),
    "a lab": ("learn?lab=count", ()),
    "plan": ("plan", ()),
    "release": ("release", ()),
    "grid": ("grid", ()),
    "guide": ("schema", ()),  # of a table of one's own
}
# where nothing is to be pressed next: what is chosen or typed there is answered at once
NO_PRESS = {"learn", "report, explore", "report, publishable", "plan"}
# words of text in view, without figures and tables drawn on a canvas; widgets in view; top of the first primary button
MEASURE = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const seen = e => e.checkVisibility({visibilityProperty: true, opacityProperty: false}) && e.getClientRects().length;
  const left = '.js-plotly-plot, svg, style, script, canvas, [data-testid=stIconMaterial], [data-testid=stDataFrame]';
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  let words = 0;
  while (texts.nextNode()) {
    const node = texts.currentNode, at = node.parentElement;
    if (at.closest(left) || !seen(at)) continue;
    words += (node.data.match(/\\S*[\\p{L}\\p{N}]\\S*/gu) || []).length; }
  const kinds = 'button, input:not([type=hidden]), textarea, summary, [role=slider], [role=radio], [role=combobox]';
  const drawn = '.js-plotly-plot, [data-testid=stElementToolbar], .dp-files';
  const widgets = [...main.querySelectorAll(kinds)].filter(e => seen(e) && !e.closest(drawn)
    && !e.parentElement.closest('button, summary'));
  const scroll = main.scrollTop, top = main.getBoundingClientRect().top;
  const button = '[data-testid=stBaseButton-primary], [data-testid=stBaseButton-primaryFormSubmit]';
  const first = [...main.querySelectorAll(button)].find(seen);
  const headings = [...main.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter(seen).map(e => +e.tagName[1]);
  return {words, widgets: widgets.length, height: main.scrollHeight, headings,
    primary: first ? Math.round(first.getBoundingClientRect().bottom + scroll) : null}; }"""


@dataclass(frozen=True, slots=True)
class Seen:
    """One page in one window. primary: pixels from the top to the foot of the first primary button, None without."""

    page: str
    width: int
    fold: int
    words: int
    widgets: int
    height: int
    primary: int | None
    headings: tuple[int, ...]
    seconds: float
    cut: tuple[str, ...]
    wider: int

    def line(self) -> str:
        """A row of the table."""
        press = "" if self.primary is None else str(self.primary)
        cells = (self.page, self.width, self.words, self.widgets, self.height, press, f"{self.seconds:.1f}")
        return "| " + " | ".join(map(str, cells)) + " |"

    def faults(self) -> list[str]:
        """What is wrong with it: the press below the fold or missing, headings out of order, words that are cut off."""
        found = []
        if self.primary is None and self.page not in NO_PRESS:
            found.append("no primary press")
        elif self.primary is not None and self.primary > self.fold:
            found.append(f"primary press at {self.primary} of {self.fold}")
        if disordered(self.headings):
            found.append(f"headings {' '.join(map(str, self.headings))}")
        found += [f"cut off: {words}" for words in self.cut]
        if self.wider > 0:
            found.append(f"wider than its window by {self.wider}")
        return [f"{self.page} at {self.width}: {fault}" for fault in found]


def disordered(headings: Iterable[int]) -> bool:
    """Whether the levels of headings begin with another than 1, have several of it, or leave a level out."""
    levels = list(headings)
    skipped = any(b > a + 1 for a, b in pairwise(levels))
    return levels[:1] != [1] or levels.count(1) > 1 or skipped


def measured(page: Page, name: str, seconds: float) -> Seen:
    """The page that is open, in the window as it is."""
    got: dict[str, Any] = page.evaluate(MEASURE)
    window = page.viewport_size or {"width": 0, "height": 0}
    return Seen(
        page=name,
        width=window["width"],
        fold=window["height"],
        words=got["words"],
        widgets=got["widgets"],
        height=got["height"],
        primary=got["primary"],
        headings=tuple(got["headings"]),
        seconds=seconds,
        cut=tuple(page.evaluate(CUT)),
        wider=page.evaluate(WIDER),
    )


def opened(walker: Walker, name: str) -> float:
    """Opens a page by its address and what is to be pressed there; seconds until its first words can be used."""
    address, presses = PAGES[name]
    start = time.perf_counter()
    walker.page.goto(f"{walker.url}/{address}")
    walker.page.get_by_role("heading", level=1).first.wait_for()
    walker.page.wait_for_selector("[data-testid='stApp'][data-test-script-state='notRunning']")
    seconds = time.perf_counter() - start
    walker.settle()
    for key, place in presses:
        walker.page.locator(f".st-key-{key} [role=radio]").nth(place).click()
        walker.settle()
    return seconds


def visits(walker: Walker, names: Iterable[str], shots: Path | None) -> Iterator[Seen]:
    """Every page in every window, each with a picture where a folder is named."""
    page = walker.page
    for name in names:
        if name == "guide":
            guided(walker)
        seconds = opened(walker, name)
        for width, height in WINDOWS:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(900)
            walker.settle()
            yield measured(page, name, seconds)
            if shots is not None:
                picture(page, shots / f"{name.replace(', ', '-').replace(' ', '-')}-{width}.png")
        page.set_viewport_size({"width": WINDOWS[0][0], "height": WINDOWS[0][1]})


def picture(page: Page, path: Path, tallest: int = 2600) -> None:
    """The whole page, in a window as tall as it is."""
    window = page.viewport_size or {"width": 1280, "height": 800}
    tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": window["width"], "height": max(window["height"], min(tallest, tall))})
    page.wait_for_timeout(500)
    page.screenshot(path=str(path))
    page.set_viewport_size(window)


def guided(walker: Walker) -> None:
    """A table of one's own, as far as the questions about what is public of it."""
    from benchmarks.walk_tables import tables

    walked = tables()[0]
    walker.page.goto(walker.url)
    walker.settle()
    walker.page.locator(".st-key-data_way [role=radio]").nth(1).click()
    walker.settle()
    walker.page.locator("input[type=file]").first.set_input_files(
        {"name": f"{walked.name}.csv", "mimeType": "text/csv", "buffer": walked.raw()}
    )
    walker.page.locator(".st-key-quick_to_guide button:visible").first.wait_for()
    walker.settle()


def visitor(browser: Browser, url: str, theme: Any, language: str) -> Walker:
    """Somebody with a finished run on the sample."""
    context = browser.new_context(
        viewport={"width": WINDOWS[0][0], "height": WINDOWS[0][1]}, color_scheme=theme, locale=language
    )
    walker = Walker(context.new_page(), url, None, "pages")
    walker.page.goto(url)
    walker.settle()
    walker.press("quick")
    walker.page.locator(".st-key-quick_report button:visible").first.wait_for()
    walker.settle()
    return walker


def main() -> int:
    """Prints the table and the faults; 1 when there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="names of pages, with commas in between", default="")
    parser.add_argument("--shots", type=Path, help="a folder for pictures of every page")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--language", choices=("en", "de"), default="en")
    given = parser.parse_args()
    names = [n for n in PAGES if not given.only or n.partition(",")[0] in given.only.split(",") or n in given.only]
    if given.shots:
        given.shots.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        server = serve(Path(folder), port)
        try:
            faults = printed(f"http://127.0.0.1:{port}", names, given)
        finally:
            server.terminate()
            server.wait(20)
    print("\n" + ("\n".join(faults) or "no fault"))
    return int(bool(faults))


def printed(url: str, names: list[str], given: argparse.Namespace) -> list[str]:
    """Prints a line for each page in each window; the faults of all."""
    from playwright.sync_api import sync_playwright

    faults = []
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| page | window | words | widgets | height | foot of the primary press | seconds |")
    print("|---|---|---|---|---|---|---|")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        walker = visitor(browser, url, given.theme, {"en": "en-US", "de": "de-DE"}[given.language])
        for seen in visits(walker, names, given.shots):
            print(seen.line(), flush=True)
            faults += seen.faults()
        browser.close()
    return faults + walker.faults


if __name__ == "__main__":
    sys.exit(main())
