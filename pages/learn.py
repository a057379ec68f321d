"""Learn page: nine small labs, each with a question, a few controls and a figure."""

from ui.labs import frame
from ui.state import workspace
from ui.theme import heading

workspace()
heading("learn")
frame.show(frame.choose())
