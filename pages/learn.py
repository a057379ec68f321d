"""Learn page: nine small labs, each with a question, a few controls and a figure."""

from ui.labs import frame
from ui.theme import heading

heading("learn")
frame.show(frame.choose())
