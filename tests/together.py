"""Tests that share what is costly to start run in one process, one after another: a pytest plugin for xdist.

A cluster of Spark, a database server and a server with a login are started once in place of once a process. Tests in a
browser are two groups that begin first, so that their waiting falls together with the work of the others.
"""

from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

SHARED = {"tests/measure/spark/": "spark", "tests/test_postgresql": "postgresql"}  # beginning of a path -> group
BROWSER = "tests/browser/"
WALKS = sorted(p.name for p in Path(__file__).with_name("browser").glob("test_*.py"))


def group_of(path):
    """The group of a file of tests; None for one whose tests may run anywhere."""
    if path.startswith(BROWSER):
        return f"browser {WALKS.index(path.removeprefix(BROWSER)) % 2}"
    return next((group for start, group in SHARED.items() if path.startswith(start)), None)


class Together(LoadScopeScheduling):
    """Gives a process a group or a single test at a time, the largest groups first."""

    def _split_scope(self, nodeid):
        return group_of(nodeid.split("::")[0]) or nodeid


def pytest_xdist_make_scheduler(config, log):
    """In place of the scheduler of `--dist loadscope`."""
    return Together(config, log) if config.getvalue("dist") == "loadscope" else None
