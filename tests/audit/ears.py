"""What a run says aloud beside its output: warnings, log records, what it prints."""

import io
import logging
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout


class _Keeper(logging.Handler):
    def __init__(self, heard):
        super().__init__(level=1)
        self.heard = heard

    def emit(self, record):
        self.heard.append(("log", record.name, record.getMessage()))


@contextmanager
def listening(heard):
    """Appends to `heard`, at the end, all that was said inside the block."""
    root, keeper, text = logging.getLogger(), _Keeper([]), io.StringIO()
    before = root.level
    root.addHandler(keeper)
    root.setLevel(1)
    try:
        with warnings.catch_warnings(record=True) as caught, redirect_stdout(text), redirect_stderr(text):
            warnings.simplefilter("always")
            yield
    finally:
        root.removeHandler(keeper)
        root.setLevel(before)
        heard += keeper.heard
        heard += [("warning", w.category.__name__, str(w.message)) for w in caught]
        heard += [("printed", text.getvalue())] if text.getvalue() else []
