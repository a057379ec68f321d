"""Domain: the ordered public attributes of a coded table and their sizes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dpsyn_core.errors import SchemaError

AttributeSet = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CodedAttribute:
    """One attribute of a coded table.

    Codes run 0..size-1. The last `special` of them stand for "missing" or "other" and have no order;
    the first size-special codes are neighbours of each other when `ordered` (bins of a number or date,
    ordered categories). `number` says that they are bins of a number or date, whose values have distances.
    `round` says for each of the first codes how round a number its bin holds (`binning.roundness`), `lengths` how long
    its bin is where not all are equally long (`binning.lengths`); either is empty where unknown, as for codes that were
    merged.
    """

    name: str
    size: int
    ordered: bool = False
    special: int = 0
    group: str | None = None
    number: bool = False
    round: bytes = b""
    lengths: bytes = b""

    def __post_init__(self) -> None:
        """Refuses sizes below 1, and forgets facts about single codes where they were merged to fewer."""
        if self.size < 1:
            msg = f"attribute '{self.name}' has size {self.size}; it must be at least 1"
            raise SchemaError(msg)
        if len(self.round) != self.size - self.special:
            object.__setattr__(self, "round", b"")
            object.__setattr__(self, "lengths", b"")


@dataclass(frozen=True, slots=True)
class Domain:
    """Ordered attributes; attribute sets are tuples of names in this order."""

    attributes: tuple[CodedAttribute, ...]
    _positions: dict[str, int] = field(init=False, repr=False, compare=False, hash=False)

    @classmethod
    def of(cls, sizes: dict[str, int]) -> Domain:
        """Builds a domain of unordered attributes from names and sizes (tests, toy data)."""
        return cls(tuple(CodedAttribute(name=k, size=v) for k, v in sizes.items()))

    def __post_init__(self) -> None:
        """Refuses duplicate names."""
        names = self.names
        object.__setattr__(self, "_positions", {name: i for i, name in enumerate(names)})
        if len(set(names)) != len(names):
            repeated = sorted({n for n in names if names.count(n) > 1})
            msg = f"attribute names repeat: {', '.join(repeated)}; every attribute needs its own name"
            raise SchemaError(msg)

    def __len__(self) -> int:
        """Number of attributes."""
        return len(self.attributes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names in domain order."""
        return tuple(a.name for a in self.attributes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes in domain order."""
        return tuple(a.size for a in self.attributes)

    def index(self, name: str) -> int:
        """Position of an attribute. Raises SchemaError when it is unknown."""
        if name in self._positions:
            return self._positions[name]
        msg = f"unknown attribute '{name}'; known are {', '.join(self.names)}"
        raise SchemaError(msg)

    def __getitem__(self, name: str) -> CodedAttribute:
        """The attribute of this name."""
        return self.attributes[self.index(name)]

    def ordered_set(self, names: Iterable[str]) -> AttributeSet:
        """The names as an attribute set: in domain order, each once."""
        places = {self.index(n) for n in names}
        return tuple(self.attributes[i].name for i in sorted(places))

    def shape(self, names: Sequence[str]) -> tuple[int, ...]:
        """Sizes of the given attributes."""
        return tuple(self[n].size for n in names)

    def cells(self, names: Sequence[str]) -> int:
        """Number of cells of a marginal, in Python integers (no overflow)."""
        return math.prod(self.shape(names))

    def project(self, names: Iterable[str]) -> Domain:
        """The domain of some of the attributes, in domain order."""
        return Domain(tuple(self[n] for n in self.ordered_set(names)))

    def singletons(self) -> list[AttributeSet]:
        """All attribute sets of size 1."""
        return [(n,) for n in self.names]

    def subsets(self, k: int) -> list[AttributeSet]:
        """All attribute sets of size k, in lexicographic domain order."""
        return list(itertools.combinations(self.names, k))
