"""How long scores take, and how large and quick the HTML report is: run as `python -m benchmarks.utility`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.memory import peak_mb
from benchmarks.tables import adult_codes, simulated
from dpsyn_core.evaluate.base import compute, names
from dpsyn_core.evaluate.comparison import Comparison, Roles
from dpsyn_core.evaluate.nist import NistFinal
from dpsyn_core.evaluate.tvd import OneWayTVD, PairwiseTVD, ThreeWayTVD
from dpsyn_core.evaluate.workload import count_queries, random_workload
from dpsyn_core.report.document import ScoredTable
from dpsyn_core.report.html import html_report
from dpsyn_core.schema.domain import CodedAttribute, Domain

Row = tuple[str, str, str, str]


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def shuffled(codes: np.ndarray, seed: int) -> np.ndarray:
    """A synthetic stand-in: half the records as they are, half with every column shuffled on its own."""
    rng = np.random.default_rng(seed)
    out = codes.copy()
    half = codes.shape[1] // 2
    for column in out:
        column[half:] = rng.permutation(column[half:])
    return out


def fresh(domain: Domain, real: np.ndarray, synthetic: np.ndarray, roles: Roles | None = None) -> Comparison:
    return Comparison(domain=domain, real=real, synthetic=synthetic, roles=roles or Roles())


def marginals_and_nist(c: Comparison) -> None:
    for metric in (OneWayTVD(), PairwiseTVD(), ThreeWayTVD(), NistFinal()):
        metric.score(c)


def adult() -> Row:
    t = adult_codes()
    roles = Roles(income="capital-gain", group="workclass", split="sex")
    synthetic = shuffled(t.codes, 0)
    marginals_and_nist(fresh(t.domain, t.codes, synthetic, roles))  # compiles the kernels
    seconds = timed(lambda: marginals_and_nist(fresh(t.domain, t.codes, synthetic, roles)))
    return "Adult 48,842 x 14: all 1- to 3-way marginals, NIST scores", f"{seconds:.2f} s", "< 3 s", ""


def wide() -> Row:
    t = simulated("tree", 662_000, 98, seed=0)
    names_ = t.domain.names
    ordered = Domain(tuple(CodedAttribute(name=a.name, size=a.size, ordered=True) for a in t.domain.attributes[:1]))
    domain = Domain((*ordered.attributes, *t.domain.attributes[1:]))
    two = next(a.name for a in domain.attributes[1:] if a.size == 2)
    roles = Roles(income=names_[0], group=names_[2] if names_[2] != two else names_[3], split=two)
    c = fresh(domain, t.codes, shuffled(t.codes, 1), roles)
    parts = []
    for metric in (OneWayTVD(), PairwiseTVD(), ThreeWayTVD(), NistFinal()):
        parts.append((metric.name, timed(partial(metric.score, c))))
    note = ", ".join(f"{n} {s:.1f}" for n, s in parts)
    total = sum(s for _, s in parts)
    return "662,000 x 98: all pairs, 300 triples, NIST scores", f"{total:.1f} s", "< 30 s", note


def queries() -> Row:
    t = adult_codes()
    rows = np.random.default_rng(0).integers(0, t.codes.shape[1], 1_000_000)
    big = np.ascontiguousarray(t.codes[:, rows])
    c = fresh(t.domain, big, big[:, ::-1].copy())
    workload = random_workload(t.domain, 10_000, seed=0)
    seconds = timed(lambda: count_queries(c, workload))
    return "10,000 range queries on 1,000,000 records, both tables", f"{seconds:.1f} s", "< 10 s", ""


def report(d: int, n: int) -> Row:
    t = simulated("tree", n, d, seed=2)
    tables = []
    for k in (1, 2):
        c = fresh(t.domain, t.codes, shuffled(t.codes, k))
        wanted = [m for m in names(quick=True) if m != "measured-fit"]
        tables.append(ScoredTable(name=f"run {k}", comparison=c, scores=compute(c, wanted)))
    start = time.perf_counter()
    page = html_report("simulated", tables)
    seconds = time.perf_counter() - start
    opened = open_seconds(page)
    note = f"{len(page) / 1e6:.1f} MB, made in {seconds:.1f} s"
    return f"HTML report, {d} attributes, two tables: open until drawn", opened, "< 3 s" if d <= 15 else "usable", note


def open_seconds(page: str) -> str:
    """Seconds until the map of pairs is drawn in a headless browser; "-" where there is none."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return "-"
    chromium = Path("/usr/bin/chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        path = Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        try:
            browser = p.chromium.launch(executable_path=chromium if chromium.exists() else None, args=["--no-sandbox"])
        except Error:
            return "-"
        tab = browser.new_page()
        start = time.perf_counter()
        tab.goto(path.as_uri())
        tab.evaluate("document.querySelector('[data-figure=pairs]').scrollIntoView()")
        tab.wait_for_selector("[data-figure=pairs] .main-svg")
        seconds = time.perf_counter() - start
        browser.close()
    return f"{seconds:.1f} s"


def main() -> None:
    print(f"{'what':<62}{'measured':>10}{'goal':>9}{'processor':>10}  note")
    for step in (adult, queries, lambda: report(15, 20_000), lambda: report(100, 20_000), wide):
        before = time.process_time()
        what, measured, goal, note = step()
        cpu = time.process_time() - before  # with what it took to make the tables, on all threads
        print(f"{what:<62}{measured:>10}{goal:>9}{cpu:>8.1f} s  {note}", flush=True)
    print(f"peak memory {peak_mb():.0f} MB")


if __name__ == "__main__":
    main()
