"""Learn page: small labs, each with a question, a few controls and a figure."""

from ui.learn import frame
from ui.shared.state import through_the_entry

through_the_entry()
frame.page()
