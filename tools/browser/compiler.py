"""Stands for numba where there is no compiler: functions stay Python, which is enough for the few records of a lab."""

from typing import Any

prange = range


def njit(*functions: Any, **_: Any) -> Any:
    """The function itself, whether or not it was declared with options."""
    if functions and callable(functions[0]):
        return functions[0]
    return lambda function: function
