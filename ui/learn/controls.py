"""Controls of labs, whose values are part of the link: as numbers and short names, not as words of a language.

Streamlit can bind a widget to the address by itself, but writes the words that are shown: such a link would mean
nothing to somebody who reads the app in another language.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.shared.text import amount, local, plain, t

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0)
T = TypeVar("T", int, float, str)
Place = DeltaGenerator | None  # where a control is drawn: a column, or below what was drawn last
LIST = "."  # between the values of a control that takes several


def epsilon(key: str, default: float = 1.0, *, at: Place = None) -> float:
    """A slider over usual values of epsilon."""
    return steps(t("learn.epsilon"), EPSILONS, default, key=key, at=at)


def steps(
    label: str, values: Sequence[T], default: T, *, key: str, words: Callable[[T], str] | None = None, at: Place = None
) -> T:
    """A slider over the given values."""
    _start(key, _among(values), default)
    return _kept(key, (at or st).select_slider(label, values, key=key, format_func=words or _figure))


def _called(key: str, words: str | Callable[[T], str]) -> Callable[[T], str]:
    """What the values of a control are called: by a function, or by entries of its lab that begin with `words`."""
    return (
        (lambda value: t(f"learn.{key.split('_', maxsplit=1)[0]}.{words}{value}")) if isinstance(words, str) else words
    )


def _figure(value: float | str) -> str:
    return value if isinstance(value, str) else local(value, ",.10g")


def deltas(values: Sequence[float], default: float, *, key: str, at: Place = None) -> float:
    """A slider over values of delta."""
    return steps(t("learn.delta"), values, default, key=key, words=amount, at=at)


def pick(
    label: str,
    values: Sequence[T],
    *,
    key: str,
    words: str | Callable[[T], str] = "",
    default: T | None = None,
    across: bool = True,
    at: Place = None,
) -> T:
    """One of a few choices; the first where no default is named."""
    _start(key, _among(values), values[0] if default is None else default)
    got = (at or st).radio(label, values, key=key, format_func=_called(key, words), horizontal=across)
    return _kept(key, values[0] if got is None else got)


def several(
    label: str,
    values: Sequence[str],
    default: Sequence[str],
    *,
    key: str,
    words: str | Callable[[str], str] = str,
    at: Place = None,
) -> list[str]:
    """Some of a few choices, or none."""

    def read(text: str) -> list[str] | None:
        got = [v for v in text.split(LIST) if v]
        return [v for v in values if v in got] if set(got) <= set(values) else None

    _start(key, read, list(default))
    got = (at or st).pills(label, values, selection_mode="multi", key=key, format_func=_called(key, words))
    st.query_params[key] = LIST.join(got)
    return list(got)


def segments(
    label: str,
    values: Sequence[str],
    default: str,
    *,
    key: str,
    words: str | Callable[[str], str] = "",
    at: Place = None,
) -> str:
    """One of a few steps in a row."""
    _start(key, _among(values), default)
    got = (at or st).segmented_control(label, values, key=key, required=True, format_func=_called(key, words))
    return _kept(key, default if got is None else str(got))


def slide(label: str, low: int, high: int, default: int, *, key: str, disabled: bool = False, at: Place = None) -> int:
    """A slider over whole numbers."""
    _start(key, _whole(low, high), default)
    return _kept(key, int((at or st).slider(label, low, high, key=key, disabled=disabled)))


def whole(label: str, low: int, high: int, default: int, *, key: str, at: Place = None) -> int:
    """A field for a whole number."""
    _start(key, _whole(low, high), default)
    return _kept(key, int((at or st).number_input(label, low, high, key=key)))


def forget_others(lab: str, labs: Sequence[str]) -> None:
    """Takes the controls of other labs out of the link."""
    for key in list(st.query_params):
        if key.split("_", 1)[0] in labs and not key.startswith(f"{lab}_"):
            del st.query_params[key]


def _among(values: Sequence[T]) -> Callable[[str], T | None]:
    def read(text: str) -> T | None:
        for value in values:
            if isinstance(value, str):
                if text == value:
                    return value
            elif _float(text) == value:
                return value
        return None

    return read


def _whole(low: int, high: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        value = _float(text)
        return int(value) if value is not None and value == int(value) and low <= value <= high else None

    return read


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None


def _start(key: str, read: Callable[[str], object], default: object) -> None:
    """The value before the first drawing: that of the link where it is one of those allowed, else the default."""
    if key not in st.session_state:
        asked = read(st.query_params.get(key, "")) if key in st.query_params else None
        st.session_state[key] = default if asked is None else asked


def _kept(key: str, value: T) -> T:
    """Writes the value into the link."""
    text = value if isinstance(value, str) else plain(value)
    if st.query_params.get(key) != text:
        st.query_params[key] = text
    return value
