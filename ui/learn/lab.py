"""A lab: its words, its controls and its figure, whose keys all begin with its name.

The values of its controls are part of the link: as numbers and short names, not as words of a language. Streamlit can
bind a widget to the address by itself, but writes the words that are shown: such a link would mean nothing to somebody
who reads the app in another language.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.learn.kept import kept
from ui.shared.charts import Figure, Trace, chart, curve
from ui.shared.text import amount, counted, local, plain, t
from ui.shared.theme import show as shown

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0)
T = TypeVar("T", bound=int | float | str)
Place = DeltaGenerator | None  # where a control is drawn: a column, or below what was drawn last
Names = Sequence[str]
Words = str | Callable[[Any], str]  # what values are called: by entries of the lab that begin so, or by a function
LIST = "."  # between the values of a control that takes several


def figure(value: float | str) -> str:
    """A value as it is, a number with the marks of the visitor's language."""
    return value if isinstance(value, str) else local(value, ",.10g")


@dataclass(frozen=True)
class Lab:
    """One lab by its short name. An entry is that of its words, and of a control where it has one."""

    name: str

    def say(self, entry: str, **values: object) -> str:
        """A sentence of the lab."""
        return t(f"learn.{self.name}.{entry}", **values)

    def counted(self, entry: str, count: int, **values: object) -> str:
        """A sentence about so many things."""
        return counted(f"learn.{self.name}.{entry}", count, **values)

    def epsilon(self, default: float = 1.0, values: Sequence[float] = EPSILONS, *, at: Place = None) -> float:
        """A slider over usual values of epsilon."""
        return self.steps("epsilon", values, default, label=t("learn.epsilon"), at=at)

    def delta(self, values: Sequence[float], default: float, *, at: Place = None) -> float:
        """A slider over values of delta."""
        return self.steps("delta", values, default, words=amount, label=t("learn.delta"), at=at)

    def steps(
        self, entry: str, values: Sequence[T], default: T, *, words: Words = figure, label: str = "", at: Place = None
    ) -> T:
        """A slider over the given values."""
        key, said = self._start(entry, _among(values), default), label or self.say(entry)
        return _linked(key, (at or st).select_slider(said, values, key=key, format_func=self._called(words)))

    def pick(
        self, entry: str, values: Sequence[T], default: T, *, words: Words = "", across: bool = True, at: Place = None
    ) -> T:
        """One of a few choices."""
        key, called = self._start(entry, _among(values), default), self._called(words)
        got = (at or st).radio(self.say(entry), values, key=key, format_func=called, horizontal=across)
        return _linked(key, default if got is None else got)

    def several(
        self, entry: str, values: Names, default: Names, *, words: Words = "", label: str = "", at: Place = None
    ) -> tuple[str, ...]:
        """Some of a few choices, or none."""

        def read(text: str) -> list[str] | None:
            got = [v for v in text.split(LIST) if v]
            return [v for v in values if v in got] if set(got) <= set(values) else None

        key, said = self._start(entry, read, list(default)), label or self.say(entry)
        got = (at or st).pills(said, values, selection_mode="multi", key=key, format_func=self._called(words))
        st.query_params[key] = LIST.join(got)
        return tuple(got)

    def segments(self, entry: str, values: Names, default: str, *, words: str = "", at: Place = None) -> str:
        """One of a few steps in a row."""
        key, called = self._start(entry, _among(values), default), self._called(words)
        got = (at or st).segmented_control(self.say(entry), values, key=key, required=True, format_func=called)
        return _linked(key, default if got is None else str(got))

    def slide(self, entry: str, low: int, high: int, default: int, *, disabled: bool = False, at: Place = None) -> int:
        """A slider over whole numbers."""
        key = self._start(entry, _whole(low, high), default)
        return _linked(key, int((at or st).slider(self.say(entry), low, high, key=key, disabled=disabled)))

    def whole(self, entry: str, low: int, high: int, default: int, *, at: Place = None) -> int:
        """A field for a whole number."""
        key = self._start(entry, _whole(low, high), default)
        return _linked(key, int((at or st).number_input(self.say(entry), low, high, key=key)))

    def again(self, **values: object) -> int:
        """A button that draws anew; how often it was pressed, which seeds the draws."""
        turn = int(st.session_state.get(f"{self.name}_turn", 0))
        if st.button(self.say("again", **values), key=f"{self.name}_again"):
            turn += 1
            st.session_state[f"{self.name}_turn"] = turn
        return turn

    def curve(self, entry: str, x: Any, y: Any, colour: str, dash: str = "solid", **more: Any) -> Trace:
        """A line of its figure, as `ui.shared.charts.curve` draws it, under the name that the entry gives it."""
        return curve(x, y, self.say(entry), colour, dash, **more)

    def curves(self, x: Any, *lines: tuple[str, Any, str, str], **more: Any) -> Figure:
        """A figure of lines over the same values: entry, values, colour and dashes of each."""
        return chart(*(self.curve(entry, x, y, colour, dash, **more) for entry, y, colour, dash in lines))

    def draw(
        self, make: Callable[..., Figure], *args: Any, alt: str, height: int, of: Hashable = None, key: str = "plot"
    ) -> None:
        """Draws a figure that is kept for all visitors; see `kept`, and `ui.shared.theme.show`."""
        shown(kept(make, *args, height=height, of=of), alt=alt, key=f"{self.name}_{key}", ready=True)

    def tell(self, reading: str, make: Callable[..., Figure], *args: Any, height: int, of: Hashable = None) -> None:
        """Draws the figure, and says below it what it shows."""
        self.draw(make, *args, alt=self.say("alt", reading=reading), height=height, of=of)
        st.write(reading)

    def _start(self, entry: str, read: Callable[[str], object], default: object) -> str:
        """The key of a control, whose value before the first drawing is that of the link where it is allowed."""
        key = f"{self.name}_{entry}"
        if key not in st.session_state:
            asked = read(st.query_params.get(key, "")) if key in st.query_params else None
            st.session_state[key] = default if asked is None else asked
        return key

    def _called(self, words: Words) -> Callable[[Any], str]:
        return (lambda value: self.say(f"{words}{value}")) if isinstance(words, str) else words


def forget_others(lab: str, labs: Sequence[str]) -> None:
    """Takes the controls of other labs out of the link."""
    for key in list(st.query_params):
        if key.split("_", 1)[0] in labs and not key.startswith(f"{lab}_"):
            del st.query_params[key]


def _among(values: Sequence[T]) -> Callable[[str], T | None]:
    def read(text: str) -> T | None:
        return next((v for v in values if (text if isinstance(v, str) else _float(text)) == v), None)

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


def _linked(key: str, value: T) -> T:
    """Writes the value into the link."""
    text = value if isinstance(value, str) else plain(value)
    if st.query_params.get(key) != text:
        st.query_params[key] = text
    return value
