"""What a run says aloud beside its output: warnings, log records, what it prints."""

import io
import logging
import threading
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout

OURS = logging.getLogger("dpsyn_core")


class _Keeper(logging.Handler):
    """Records of this thread: ours at any level, those of libraries from INFO on (compilers chat below)."""

    def __init__(self, heard):
        super().__init__(level=1)
        self.heard, self.thread = heard, threading.get_ident()

    def emit(self, record):
        if record.thread == self.thread:
            self.heard.append(("log", record.name, record.getMessage()))


@contextmanager
def listening(heard):
    """Appends to `heard`, at the end, all that was said inside the block."""
    root, keeper, text = logging.getLogger(), _Keeper([]), io.StringIO()
    before = root.level, OURS.level
    root.addHandler(keeper)
    root.setLevel(logging.INFO)
    OURS.setLevel(1)
    try:
        with warnings.catch_warnings(record=True) as caught, redirect_stdout(text), redirect_stderr(text):
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", ResourceWarning)  # these come when memory is swept, from anywhere
            yield
    finally:
        root.removeHandler(keeper)
        root.setLevel(before[0])
        OURS.setLevel(before[1])
        heard += keeper.heard
        heard += [("warning", w.category.__name__, str(w.message)) for w in caught]
        heard += [("printed", text.getvalue())] if text.getvalue() else []
