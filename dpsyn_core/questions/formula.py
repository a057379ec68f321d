"""Formulas of models, such as `died ~ treated + age + log(crp) + treated*diabetes`: read into outcome and terms."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import QuestionError

Floats = NDArray[np.float64]
FUNCTIONS: MappingProxyType[str, Callable[[Floats], Floats]] = MappingProxyType(
    {"log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "square": np.square}
)
MOST_FACTORS = 3  # of one term
_NAME = r"""(?:[^\W\d][\w.]*|"(?:[^"]|"")+")"""
_FACTOR = rf"\s*(?:(?:{'|'.join(FUNCTIONS)})\s*\(\s*{_NAME}\s*\)|{_NAME})\s*"
_TERM = re.compile(rf"{_FACTOR}(?:(?:\*{_FACTOR})*|(?::{_FACTOR})*)(?:\+|$)")
_LEFT = re.compile(f"({_FACTOR})~")


@dataclass(frozen=True, slots=True)
class Factor:
    """A column, or a function of its number. function: a key of `FUNCTIONS`, or None."""

    column: str
    function: str | None = None

    def __str__(self) -> str:
        return self.column if self.function is None else f"{self.function}({self.column})"

    @classmethod
    def of(cls, text: str) -> Factor:
        """Reads one that fits `_FACTOR`."""
        name, function = text.strip(), None
        if name.endswith(")"):
            function, _, name = name[:-1].partition("(")
        name = name.strip()
        return cls(name[1:-1].replace('""', '"') if name.startswith('"') else name, function and function.strip())


@dataclass(frozen=True, slots=True)
class Formula:
    """What is explained, and by which products of columns; the intercept is not among them."""

    outcome: Factor
    terms: tuple[tuple[Factor, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The explaining columns, each once, in their order."""
        return tuple(dict.fromkeys(f.column for term in self.terms for f in term))

    @classmethod
    def of(cls, text: str) -> Formula:
        """Reads a formula. `a:b` is a product, `a*b` stands for a + b + a:b. Raises QuestionError."""
        left, once = _LEFT.match(text), dict[tuple[str, ...], tuple[Factor, ...]]()
        at = len(text) + 1 if left is None else left.end()
        while at < len(text) and (found := _TERM.match(text, at)) is not None:
            factors = [Factor.of(f) for f in re.findall(_FACTOR, found[0])]
            if len(factors) > MOST_FACTORS:
                break
            sizes = range(1, len(factors) + 1) if re.match(rf"{_FACTOR}\*", found[0]) else [len(factors)]
            for term in (t for size in sizes for t in combinations(factors, size)):
                once.setdefault(tuple(sorted(map(str, term))), term)
            at = found.end()
        if left is None or at != len(text) or text.rstrip().endswith(("+", "~")):
            shown = repr(text if len(text) <= 80 else text[:77] + "...")
            msg = (
                f"the formula {shown} cannot be read; write outcome ~ a + b + a*b or a:b, products of at most "
                f"{MOST_FACTORS}, with names, names in double quotes, and {', '.join(FUNCTIONS)} of a column"
            )
            raise QuestionError(msg)
        return cls(Factor.of(left[1]), tuple(once.values()))
