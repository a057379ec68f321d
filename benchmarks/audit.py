"""The deep audit: mutants, T0 to T3 with more runs, a black-box attacker, faults. `python -m benchmarks.audit`.

Prints the tables that stand in docs/evidence/audit.md; the exit status is 1 when anything raises an alarm.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from dpsyn_core.systems import registry
from tests.audit import bought, raw, whole
from tests.audit.apart import t1_apart
from tests.audit.blackbox import t4
from tests.audit.gates import Alarm
from tests.audit.layers import t0, t1, t2, t3
from tests.audit.lines import Lone, Tally, fuzz
from tests.audit.mutants import MUTANTS
from tests.audit.readers import READERS as RAW
from tests.audit.recordwise import KINDS, recordwise
from tests.audit.world import OWN, accessors, flavours, main_offer, random_pairs, systems

PARTS = ["bugs", "releases", "readers", "systems", "faults"]


def figure(value: float | None, digits: int = 3) -> str:
    """A number, or a dash."""
    return "-" if value is None else f"{value:.{digits}f}"


def mutants() -> int:
    """Every seeded bug against the layer that is said to catch it."""
    print("\n## Seeded bugs\n\n| # | bug | layer | caught |\n|---|---|---|---|")
    missed = 0
    for i, one in enumerate(MUTANTS, start=1):
        with one.plant():
            try:
                one.check()
                caught = False
            except Alarm:
                caught = True
        missed += not caught
        print(f"| {i} | {one.name} | {one.layer} | {'yes' if caught else 'NO'} |", flush=True)
    print(f"\n{len(MUTANTS) - missed} of {len(MUTANTS)} caught.")
    return missed


def sources() -> int:
    """T0 and the layers on a whole release."""
    print("\n## Source of noise and whole releases\n")
    alarms = 0
    for text, check in (
        ("T0, 1,000,000 draws a mechanism", t0),
        ("T1 in two processes, tables in opposite order", t1_apart),
        ("T1 on whole releases of every system", every_release),
        ("T2 on a whole release", whole.t2_whole),
        ("T1 on bought schemas", bought.t1_bought),
        ("T2 on bought schemas", bought.t2_bought),
        ("T2 on a run that dies", whole.t2_crash),
        ("stamps and identifiers", whole.stamp),
    ):
        alarms += silent(text, check)
    return alarms


def readers(pools: int) -> int:
    """T1 to T3 from raw bytes, frames and databases, and every reader fuzzed record by record."""
    print("\n## Readers\n\nA case is a record in a table that is read as it is alone, or a whole file.\n")
    alarms = 0
    for kind in RAW:
        for text, check in (
            ("T1", partial(raw.t1_raw, kind)),
            ("T2", partial(raw.t2_raw, kind)),
            ("T2, records without a name", partial(raw.t2_nameless, kind)),
            ("T3", partial(raw.t3_raw, kind, runs=500)),
        ):
            alarms += silent(f"{text} from {kind}", check)
    print("\n| reader | cases | alarms | s |\n|---|---|---|---|")
    for kind in KINDS:
        start, cases, found = time.perf_counter(), 0, 0
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(pools * (4 if kind == "text" else 1)):
                try:
                    cases += recordwise(kind, seed, Path(folder), tables=60)
                except Alarm as leak:
                    found += 1
                    print(f"ALARM: {leak}", flush=True)
        alarms += found
        print(f"| {kind} | {cases:,} | {found} | {time.perf_counter() - start:.0f} |", flush=True)
    start, tally, lone = time.perf_counter(), Tally(), Lone()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(10 * pools):
            fuzz(tally, seed, Path(folder), lone, pairs=25)
    for what, times in tally.failed.most_common():
        print(f"ALARM: {what} ({times} times): {tally.example[what]!r}", flush=True)
    found = tally.failed.total()
    print(f"| files of odd lines | {tally.files:,} | {found} | {time.perf_counter() - start:.0f} |", flush=True)
    return alarms + found


def every_release() -> None:
    """T1 on a whole release with every system that takes the table of people."""
    for name in registry.names():
        if name != "dirichlet-multinomial":  # it needs a public number of records and protects replace neighbours
            whole.t1_whole(name)


def silent(text: str, check: Callable[[], object]) -> int:
    """Runs a check and says whether it raised an alarm."""
    try:
        check()
    except Alarm as leak:
        print(f"- {text}: ALARM: {leak}", flush=True)
        return 1
    print(f"- {text}: no alarm", flush=True)
    return 0


def audited(name: str, white: int, black: int) -> tuple[str, bool]:
    """One row of the table of systems, and whether an alarm was raised. Runs in a process of its own."""
    start = time.perf_counter()
    neighbours, delta = main_offer(name)
    cells = [name, f"{neighbours}, {'pure' if delta == 0 else f'delta {delta:g}'}"]
    alarm = False
    try:
        t1(name)
        ways = [f for f in flavours() if f.startswith(f"{name}, ")]
        for way in ways:
            t1(way)
        cells.append("same bytes")
        t2(name)
        t2(name, seeds=(0,), pairs_of=lambda neighbours: random_pairs(neighbours, count=60))
        for way in ways:
            t2(way, seeds=(0,))
        cells.append(f"within, {len(ways) + 1}")
        measured = t3(name, runs=white) if name in systems() else (None, None, None, None)
        apart, bound, least, law = measured
        cells += [figure(apart), figure(bound), figure(least), figure(law, 1)]
        if name in OWN:
            cells += ["-", "-"]
        else:
            best = max(t4(name, runs=black), key=lambda b: b.lower)
            cells += [figure(best.lower, 2), best.pair if best.lower else "-"]
    except Alarm as leak:
        cells.append(f"ALARM: {leak}")
        alarm = True
    return "| " + " | ".join([*cells, f"{time.perf_counter() - start:.0f}"]) + " |", alarm


def by_system(white: int, black: int, processes: int) -> int:
    """T1 to T4 on every registered system, several at a time; rows come in the order of the registry."""
    print(
        "\n## Systems\n\n"
        "T1 and T2: the standard settings and each other choice, switch or list, one at a time (beside T2: how many).\n"
        "T3: distance of canary scores in standard deviations, and what the charges allow; least ratio of noise to\n"
        "its charged variance over all accesses; largest standard score of other laws and of products of noise\n"
        f"that must be independent. {4 * white:,} runs a side on 4 pairs at epsilon 8 (pure systems: 2, priview: 1).\n"
        f"T4: largest proved lower bound on epsilon over 6 pairs at epsilon 1, {black:,} runs.\n"
        "Systems for individuals of one record are spared the pair with three.\n\n"
        "| system | audited as | T1 | T2 | T3 apart | allowed | noise | law | T4 bound | pair of it | s |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    alarms = 0
    fresh = multiprocessing.get_context("spawn")  # a fork would copy threads and caches
    with ProcessPoolExecutor(processes, mp_context=fresh) as pool:
        for row, alarm in pool.map(audited, *zip(*((n, white, black) for n in accessors()), strict=True)):
            print(row, flush=True)
            alarms += alarm
    return alarms


def main() -> int:
    """Runs what was asked for; everything, when nothing was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--white", type=int, default=2000, help="T3 runs for each pair and side")
    parser.add_argument("--black", type=int, default=20_000, help="T4 runs of a system")
    parser.add_argument("--pools", type=int, default=20, help="pools of records for each reader")
    parser.add_argument("--processes", type=int, default=2, help="systems audited at a time")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to look at")
    arguments = parser.parse_args()
    start = time.perf_counter()
    alarms = 0
    if "bugs" in arguments.parts:
        alarms += mutants()
    if "releases" in arguments.parts:
        alarms += sources()
    if "readers" in arguments.parts:
        alarms += readers(arguments.pools)
    if "systems" in arguments.parts:
        alarms += by_system(arguments.white, arguments.black, arguments.processes)
        print(f"\n{(time.perf_counter() - start) / 60:.1f} minutes without the faults.")
    if "faults" in arguments.parts:
        print("\n## Faults\n", flush=True)
        alarms += subprocess.run([sys.executable, "-m", "benchmarks.faults"], check=False).returncode != 0
    print(f"\n{alarms} alarms; {(time.perf_counter() - start) / 60:.1f} minutes.")
    return 1 if alarms else 0


if __name__ == "__main__":
    for threads in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")  # of the processes to come: they share the cores by systems
    sys.exit(main())
