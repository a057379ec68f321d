"""A row of options of which one is chosen at any time."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

Option = TypeVar("Option")


def one_of(
    label: str,
    options: Sequence[Option],
    *,
    key: str,
    called: Callable[[Option], str],
    first: Option | None = None,
    labelled: bool = False,
    **more: Any,
) -> Option:
    """The chosen one; before a choice the first of them, or the one that is named.

    called: what an option is called. labelled: whether the label is seen, or read to the blind alone. more: what else
    Streamlit knows of such a row.
    """
    start = options[0] if first is None else first
    more["label_visibility"] = "visible" if labelled else "collapsed"
    got: Option | None = st.segmented_control(
        label, options, default=start, required=True, format_func=called, key=key, **more
    )
    return options[0] if got is None else got
