"""Which tests a run leaves out, and the lines that name them: a pytest plugin that tests/conftest.py loads.

`pytest --quick` (`make test`) needs Python alone and ends within minutes: tests that are slow (marked so, or named in
tests/slow.txt) or need another program are left out and named in the last lines. `pytest --complete` (`make test-all`,
CI) lets nothing be left out: a test whose program is missing fails and says how to install it, and a skipped test fails
the run.
"""

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from dpsyn_core.systems.registry import MODULES

KINDS = {
    "slow": "slow (audits, long statistics, whole runs)",
    "browser": "in a headless Chromium",
    "postgresql": "with a PostgreSQL server",
    "deep": "with torch (the extra deep)",
    "spark": "on executors of Spark (the extra spark, and Java)",
    "sdgym": "inside SDGym (an environment of its own)",
    "registry": "with a package registry (installs the wheel)",
    "system": "of what this system does not have",
}
DEEP = {name for name, module in MODULES.items() if module.startswith("dpsyn_core.systems.deep.")}
COMMAND = (
    "apt-get install chromium default-jre-headless nodejs postgresql && make test-all  # installs torch, pyspark, SDGym"
)
SLOW = frozenset((Path(__file__).parent / "slow.txt").read_text(encoding="utf-8").splitlines())  # tools/slow_tests.py
SYSTEM = os.environ.get("DPSYN_TEST_SYSTEM", sys.platform)  # tests/elsewhere
# tests of what only other systems have, by file or name: shells, modes, fork, /proc
LACKED = Path(__file__).parent / "elsewhere" / f"lacks.{SYSTEM}.txt"
ABSENT = frozenset(LACKED.read_text(encoding="utf-8").split()) if LACKED.exists() else frozenset()
COUNTS = "left_out"  # where a worker of xdist puts its counts for the process that prints


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help=f"leave out tests marked {', '.join(KINDS)}, and name them")
    parser.addoption("--shard", type=shard, default=(1, 1), help="one of several parts of the tests, such as 1/3")
    parser.addoption("--complete", action="store_true", help="let nothing be left out: a skipped test fails the run")


def pytest_configure(config):
    config.pluginmanager.register(LeftOut(config), "left-out")


def pytest_ignore_collect(collection_path):
    """Files of what this system lacks are not even imported."""
    root = Path(__file__).resolve().parents[1]
    here = collection_path.resolve()
    return True if here.is_relative_to(root) and here.relative_to(root).as_posix() in ABSENT else None


def kind_of(item):
    """Why the quick run leaves a test out; None when it does not."""
    name = item.nodeid.split("[")[0]
    if name in ABSENT:
        return "system"
    kind = next((kind for kind in KINDS if item.get_closest_marker(kind)), None)
    if kind is None and item.nodeid in SLOW:
        return "slow"
    return kind or ("deep" if trains(item) else None)


def trains(item):
    """Whether a test is about a system that needs torch: one of its parameters begins with the system's name."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return any(isinstance(value, str) and value.split(",")[0] in DEEP for value in given)


def shard(text):
    """Of "1/3", the numbers 1 and 3. Raises ValueError where there is no such part."""
    which, count = map(int, text.split("/"))
    if not 1 <= which <= count:
        msg = f"there is no part {text}"
        raise ValueError(msg)
    return which, count


class LeftOut:
    """Counts what is left out, by kind; under xdist the workers count and the process that started them prints."""

    def __init__(self, config):
        self.config = config
        self.counts = Counter()
        self.skipped = []

    def pytest_collection_modifyitems(self, config, items):
        if config.getoption("quick"):
            out = [item for item in items if kind_of(item)]
            self.counts.update(kind_of(item) for item in out)
            config.hook.pytest_deselected(items=out)
            items[:] = [item for item in items if not kind_of(item)]
        which, count = config.getoption("shard")
        items[:] = items[which - 1 :: count]  # neighbours, which often take as long, go to different parts

    def pytest_runtest_logreport(self, report):
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped.append(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[COUNTS] = dict(self.counts)
        elif self.skipped and session.config.getoption("complete") and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """All workers have collected the same tests: the counts of one of them are those of the run."""
        self.counts |= Counter(getattr(node, "workeroutput", {}).get(COUNTS, {}))

    def pytest_terminal_summary(self, terminalreporter):
        skipped = self.skipped if self.config.getoption("complete") else []
        for line in lines(self.counts, skipped):
            terminalreporter.write_line(line)


def lines(counts, skipped=()):
    """What the end of a run says about tests that did not run; nothing when all did."""
    out = [f"Skipped, which fails a complete run: {name}" for name in skipped]
    if counts:
        kinds = ", ".join(f"{counts[kind]} {words}" for kind, words in KINDS.items() if counts[kind])
        out += [f"Left out: {kinds}.", f"To run them too: {COMMAND}"]
    return out
