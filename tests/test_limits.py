"""What the app says on a system that keeps no limit of memory."""

from dpsyn_core import platforms
from tests.app_driver import at_page, words
from ui.shared.text import t


def test_a_system_without_limits_of_memory_is_named_on_the_synthesize_page(app, monkeypatch):
    assert t("synthesize.unlimited") not in words(at_page(app, "synthesize"))
    monkeypatch.setattr(platforms, "limits_memory", lambda: False)
    assert t("synthesize.unlimited") in words(app.run())
