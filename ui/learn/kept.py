"""Figures of labs, kept for all visitors: they show invented people alone, and a class looks at the same few."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from ui.shared.charts import Figure
from ui.shared.text import language
from ui.shared.theme import dark, dressed

MOST = 300  # figures, of about 100 kB each
_figures: OrderedDict[Hashable, Figure] = OrderedDict()
_lock = threading.Lock()


def kept(make: Callable[..., Figure], *args: Any, height: int, of: Hashable = None) -> Figure:
    """What `make(*args)` draws, in the house style of the visitor's theme. It is shared, and not to be changed.

    Args:
        make: a function of public values alone, which draws the same figure for the same ones.
        args: its arguments.
        height: in pixels.
        of: what decides the arguments, where they are arrays and cannot be looked up by themselves.
    """
    mark = (make.__module__, make.__qualname__, args if of is None else of, height, dark(), language())
    with _lock:
        if mark in _figures:
            _figures.move_to_end(mark)
            return _figures[mark]
    made = dressed(make(*args), is_dark=dark(), height=height)
    with _lock:
        _figures[mark] = made
        while len(_figures) > MOST:
            _figures.popitem(last=False)
    return made
