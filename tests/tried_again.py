"""Which tests are tried again when they fail: those in a browser, once, in a complete run (a plugin of conftest.py).

A browser on a busy machine may look at a page that is still being drawn. Every other test is tried once, whatever the
command line or the test says: an audit that sees a leak with probability p would see it with p squared.
"""

import pytest

RULE = "tests in a browser alone are tried again, by `--complete`; mend a test that fails by chance (tests/chance.py)"


def pytest_configure(config):
    asked = ("reruns", "force_reruns", "rerun_except")
    if any(config.getoption(option, None) for option in asked) or _set(config):
        raise pytest.UsageError(f"reruns are not for choosing: {RULE}")


def _set(config):
    """Whether a file of settings asks for reruns; the plugin may be missing."""
    try:
        return int(config.getini("reruns") or 0)
    except (KeyError, ValueError):
        return 0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.get_closest_marker("flaky"):
            raise pytest.UsageError(f"{item.nodeid} is marked `flaky`: {RULE}")
        if item.get_closest_marker("browser") and item.get_closest_marker("chance"):
            raise pytest.UsageError(f"{item.nodeid} is marked `browser` and `chance`: {RULE}")
        if item.get_closest_marker("browser") and config.getoption("complete", False):
            item.add_marker(pytest.mark.flaky(reruns=1))
