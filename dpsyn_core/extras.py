"""Extras: the parts of an installation that are added by name, and the sentence where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from dpsyn_core.errors import ExtraError

# libraries that show that an extra is installed; pyproject.toml lists all of each
LIBRARIES = {
    "app": ("streamlit", "plotly", "altair", "jinja2"),
    "codebooks": ("pyreadstat", "pandas"),
    "excel": ("openpyxl",),
    "learning": ("sklearn",),
}


def require(extra: str, what: str) -> None:
    """Raises ExtraError where a library of an extra is not installed; what: needs it, as a sentence begins."""
    if any(find_spec(library) is None for library in LIBRARIES[extra]):
        raise absent(what, extra=extra)


def absent(what: str, *, extra: str) -> ExtraError:
    """The error of a part that was not added, with the command that adds it."""
    # in double quotes, which every shell of every system takes
    return ExtraError(f"{what} needs the extra '{extra}'; add it with: python -m pip install \"dpsyn-studio[{extra}]\"")
