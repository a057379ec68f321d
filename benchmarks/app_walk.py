"""From a fresh start to a downloaded synthetic sample: presses and seconds; then the time to open each page.

With --fresh kernels are compiled anew, as after an installation; otherwise they are taken from the cache.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.app_load import CHROMIUM, in_a_browser, serve, table


def download(port: int) -> tuple[int, float, float]:
    """Presses, seconds from opening the address to a drawn page, and to the downloaded file."""
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
        button.click()
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download CSV", exact=True).click()
        size = Path(waiting.value.path()).stat().st_size
        whole = time.perf_counter() - start
        browser.close()
    if size < 100_000:
        msg = f"the downloaded table has {size} bytes"
        raise RuntimeError(msg)
    return 2, drawn, whole


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
        start = time.perf_counter()
        server = serve(Path(folder), port)
        up = time.perf_counter() - start
        try:
            presses, drawn, whole = download(port)
            rows = in_a_browser(port)
        finally:
            server.terminate()
            server.wait(20)
    kernels = "compiled anew" if given.fresh else "from the cache"
    print(f"kernels {kernels}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| presses | server up s | first page s | file downloaded s (from opening the address) |\n|---|---|---|---|")
    print(f"| {presses} | {up:.1f} | {drawn:.1f} | {whole:.1f} |\n\n{table(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
