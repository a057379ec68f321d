"""Learn page: small labs, each with a question, a few controls and a figure."""

from ui.learn import frame
from ui.shared.state import workspace
from ui.shared.theme import heading

workspace()
heading("learn")
frame.show(frame.choose())
