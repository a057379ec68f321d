"""What somebody waits for: first page, press to table, a large upload, a workbook; then the time to open each page.

With --fresh kernels are compiled anew, as after an installation; otherwise they are taken from the cache.
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
from typing import TYPE_CHECKING

from benchmarks.app_load import CHROMIUM, in_a_browser, serve, table

if TYPE_CHECKING:
    from playwright.sync_api import Page


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds that somebody waits: the first page, from a press to the table, a large file, a workbook."""

    page: float
    table: float
    downloaded: float
    upload: float
    words: float
    excel: float


def walked(port: int, big: Path) -> Waits:
    """One visit from an empty address to the downloaded tables, then one with a file of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(accept_downloads=True)
        page.set_default_timeout(300_000)
        start = time.perf_counter()
        page.goto(f"http://127.0.0.1:{port}/")
        button = page.get_by_role("button", name="Synthesize", exact=True)
        button.wait_for()
        drawn = time.perf_counter() - start
        pressed = time.perf_counter()
        button.click()
        csv = page.get_by_role("button", name="Download CSV", exact=True)
        csv.wait_for()
        table_there = time.perf_counter() - pressed
        with page.expect_download() as waiting:
            csv.click()
        size = Path(waiting.value.path()).stat().st_size
        whole = time.perf_counter() - start
        page.get_by_test_id("stTopNavLink").filter(has_text="Export").click()
        workbook = page.get_by_role("button", name="Download Excel", exact=True)
        workbook.wait_for()
        asked = time.perf_counter()
        with page.expect_download() as waiting:
            workbook.click()
        waiting.value.path()
        excel = time.perf_counter() - asked
        words, read = uploaded(browser.new_page(), port, big)
        browser.close()
    if size < 100_000:
        msg = f"the downloaded table has {size} bytes"
        raise RuntimeError(msg)
    return Waits(drawn, table_there, whole, read, words, excel)


def uploaded(page: Page, port: int, big: Path) -> tuple[float, float]:
    """Seconds from choosing a file to the first words about it, and until its columns are there."""
    page.set_default_timeout(300_000)
    page.goto(f"http://127.0.0.1:{port}/")
    page.get_by_role("radio", name="Upload", exact=True).first.click()
    field = page.locator(".st-key-upload input[type=file]")  # the page has one for projects too, folded away
    field.wait_for(state="attached")
    start = time.perf_counter()
    field.set_input_files(big)
    page.get_by_text("Reading the table").or_(page.locator(".st-key-quick_to_guide")).first.wait_for()
    words = time.perf_counter() - start
    page.locator(".st-key-quick_to_guide button:visible").first.wait_for()
    return words, time.perf_counter() - start


def large(folder: Path) -> Path:
    """A file of some 40 MB: 14 columns as people have them, made from a seed."""
    import numpy as np
    import pandas as pd

    rng, n = np.random.default_rng(0), 420_000
    frame = pd.DataFrame({f"answer_{i}": rng.choice(["never", "seldom", "often"], n) for i in range(5)})
    for i in range(5):
        frame[f"amount_{i}"] = rng.gamma(2, 500, n).round(2)
    for i in range(3):
        frame[f"year_{i}"] = rng.integers(1950, 2020, n)
    frame["begun"] = (np.datetime64("2015-01-01") + rng.integers(0, 3000, n)).astype("datetime64[D]")
    path = folder / "large.csv"
    frame.to_csv(path, index=False)
    return path


def main() -> int:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="compile kernels anew, as after an installation")
    given = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        if given.fresh:
            os.environ["NUMBA_CACHE_DIR"] = str(Path(folder) / "kernels")
        big = large(Path(folder))
        big_mb = big.stat().st_size / 1e6
        start = time.perf_counter()
        server = serve(Path(folder), port)
        up = time.perf_counter() - start
        try:
            waits = walked(port, big)
            rows = in_a_browser(port)
        finally:
            server.terminate()
            server.wait(20)
    kernels = "compiled anew" if given.fresh else "from the cache"
    print(f"kernels {kernels}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| wait | seconds | goal |\n|---|---|---|")
    for what, seconds, goal in (
        ("server up", up, ""),
        ("first page", waits.page, "2.5"),
        ("press to table, the sample", waits.table, "4.5"),
        ("address to downloaded CSV, 2 presses", waits.downloaded, ""),
        (f"upload of {big_mb:.0f} MB: first words", waits.words, ""),
        (f"upload of {big_mb:.0f} MB: read", waits.upload, "10"),
        ("Excel, with a bar", waits.excel, ""),
    ):
        print(f"| {what} | {seconds:.1f} | {goal} |")
    print(f"\n{table(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
