"""Errors on the screen and in the log: a sentence for the person, and no message that may quote a value."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from pathlib import Path
from types import TracebackType

import streamlit as st
from streamlit import net_util

from dpsyn_core.errors import DPSynError
from ui.shared.text import literal, sentence, t
from ui.shared.theme import PageEnd, note

log = logging.getLogger("dpsyn.app")


def places(trace: TracebackType | None) -> str:
    """Where an error was raised, innermost first: files and lines, no text of the code and no values."""
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(traceback.extract_tb(trace)))


def remove_messages_from_log() -> None:
    """Removes the message from every error that this process logs, and stops Streamlit from looking up its address.

    Streamlit's own log is included. When a page of another origin connects, Streamlit would ask a public server for
    this machine's address; it does not ask when an address is set. Calling this once is enough.
    """
    net_util._external_ip = ""
    make = logging.getLogRecordFactory()
    if getattr(make, "without_messages", False):
        return

    def record(*given: object, **named: object) -> logging.LogRecord:
        made = make(*given, **named)
        if made.exc_info and made.exc_info[0] is not None:
            made.msg = f"{made.exc_info[0].__name__} at {places(made.exc_info[2])}"
            made.args, made.exc_info, made.exc_text = (), None, None
        return made

    record.without_messages = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(record)


def explain(error: BaseException) -> bool:
    """Shows a fault: a DPSynError as its sentence, anything else as one general sentence. Always True."""
    if isinstance(error, PageEnd):
        return True
    if isinstance(error, DPSynError):
        st.error(literal(sentence(error)))
        return True
    log.error("%s at %s", type(error).__name__, places(error.__traceback__))
    st.error(t("error.fault"))
    return True


@contextmanager
def refusals(kind: str = "error") -> Iterator[None]:
    """Shows a DPSynError that is raised within as its sentence, and goes on after it; other errors pass.

    kind: an error in a box of its own, or that of a `note`.
    """
    try:
        yield
    except DPSynError as error:
        if kind == "error":
            st.error(literal(sentence(error)))
        else:
            note(sentence(error), kind)


class ShownFaults(ContextDecorator):
    """Context of a fragment, or around a whole one: shows errors, and lets Streamlit's own control flow pass."""

    def __enter__(self) -> ShownFaults:
        """Nothing to prepare."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        """Suppresses an error that was shown."""
        return isinstance(error, Exception) and explain(error)
