"""MemoryCounter: exact marginals of records that fit in memory, by compiled kernels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.features import VectorMap
from dpsyn_core.counting.sums import Sample, SumRule, block_sum
from dpsyn_core.errors import SizeError, TableError
from dpsyn_core.marginals.types import NO_RECODES
from dpsyn_core.schema.domain import AttributeSet, Domain

MAX_CELLS = 50_000_000  # 400 MB of int64 counts
MAX_RECORDS = 2**31 - 1  # the kernels count in int32
GROUP = 1 << 22  # cells counted at a time in the working buffer: 16 MB
THREADS = 2  # each counts pairs of other attributes; whole numbers do not depend on who counted them
ALONE = 200_000_000  # records times pairs up to which one thread counts: some tenths of a second


class MemoryCounter:
    """Counts coded records in memory. Everything it returns is private."""

    def __init__(self, codes: NDArray[np.unsignedinteger], domain: Domain, *, max_cells: int = MAX_CELLS) -> None:
        """Checks the codes once, so that the kernels need not.

        Args:
            codes: unsigned integers (n_attributes, n_records), column-major in the sense that one attribute's
                codes lie together; copied only when they are not C-contiguous.
            domain: the attributes, in the order of the rows of `codes`.
            max_cells: cap on the cells of one marginal.

        Raises:
            TableError: the shape or a code does not fit the domain; names the attribute, never the value.
            SizeError: more records than the kernels can count.
        """
        check_codes(codes, domain)
        if codes.shape[1] > MAX_RECORDS:
            msg = f"the table has more than {MAX_RECORDS} records; draw a sample of the individuals first"
            raise SizeError(msg)
        self.domain = domain
        self.max_cells = max_cells
        self._codes = np.ascontiguousarray(codes)
        self._coarse: dict[str, tuple[bytes, NDArray[np.unsignedinteger]]] = {}

    def marginal(
        self, attributes: AttributeSet, recodes: Mapping[str, NDArray[np.intp]] = NO_RECODES
    ) -> NDArray[np.int64]:
        """Exact counts, one axis an attribute; () gives the total as a 0-dimensional array.

        Args:
            attributes: names, in any order; the axes follow it.
            recodes: attribute name -> map of its codes to coarse codes, for attributes counted coarsely.

        Raises:
            SizeError: the cell product is above the cap.
        """
        return self.marginals([attributes], recodes)[0]

    def marginals(
        self, sets: Sequence[AttributeSet], recodes: Mapping[str, NDArray[np.intp]] = NO_RECODES
    ) -> list[NDArray[np.int64]]:
        """Many at once, in the order of `sets`; pairs that share their first attribute read it together."""
        shapes = coarse_shapes(self.domain, sets, recodes)
        for names, shape in zip(sets, shapes, strict=True):
            check_cells(names, shape, self.max_cells)
        codes, row, sizes = self._columns(sets, recodes)
        members = [[row[n] for n in names] for names in sets]
        out: list[NDArray[np.int64] | None] = [None] * len(sets)
        pairs: dict[int, list[int]] = defaultdict(list)
        for position, m in enumerate(members):
            if len(m) == 2:
                pairs[m[0]].append(position)
            else:
                out[position] = _count_one(codes, m, sizes, shapes[position])
        groups = [(first, group) for first, positions in pairs.items() for group in _groups(positions, shapes)]

        def count(part: tuple[int, list[int]]) -> None:
            first, group = part
            tables = _count_group(codes, first, [members[p][1] for p in group], sizes)
            for p, table in zip(group, tables, strict=True):
                out[p] = table.reshape(shapes[p])

        if codes.shape[1] * sum(len(group) for _, group in groups) > ALONE:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(count, groups))
        else:
            for part in groups:
                count(part)
        return [table for table in out if table is not None]

    def occupied(
        self, attributes: AttributeSet, recodes: Mapping[str, NDArray[np.intp]] = NO_RECODES
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Flat indices (ascending, last attribute fastest) and counts of the cells that hold records.

        For tables with far more cells than records: memory grows with the records only. recodes: as in `marginal`.
        """
        shape = coarse_shape(self.domain, attributes, recodes)
        flat = np.zeros(self._codes.shape[1], dtype=np.int64)
        for name, size in zip(attributes, shape, strict=True):
            flat *= size
            column = self._codes[self.domain.index(name)]
            flat += self._mapped(name, column, recodes[name]) if name in recodes else column
        index, counts = np.unique(flat, return_counts=True)
        return index, counts.astype(np.int64)

    def vector_sum(self, rule: SumRule, maps: Sequence[VectorMap], sample: Sample | None = None) -> NDArray[np.int64]:
        """Exact sums of clipped vectors of the records; see `counting.sums.VectorCounter`."""
        columns = {name: self._codes[i] for i, name in enumerate(self.domain.names)}
        return block_sum(columns, self._codes.shape[1], rule, maps, sample)

    def _columns(
        self, sets: Sequence[AttributeSet], recodes: Mapping[str, NDArray[np.intp]]
    ) -> tuple[NDArray[np.unsignedinteger], dict[str, int], NDArray[np.int64]]:
        """Codes, the row of each name, and sizes; a copy of the rows in use when some are counted coarsely."""
        used = self.domain.ordered_set(n for names in sets for n in names)
        if not any(n in recodes for n in used):
            row = {n: i for i, n in enumerate(self.domain.names)}
            return self._codes, row, np.array(self.domain.sizes, dtype=np.int64)
        rows = [self._codes[self.domain.index(n)] for n in used]
        coarse = [self._mapped(n, r, recodes[n]) if n in recodes else r for n, r in zip(used, rows, strict=True)]
        sizes = [coarse_shape(self.domain, (n,), recodes)[0] for n in used]
        return np.stack(coarse), {n: i for i, n in enumerate(used)}, np.array(sizes, dtype=np.int64)

    def _mapped(
        self, name: str, column: NDArray[np.unsignedinteger], recode: NDArray[np.intp]
    ) -> NDArray[np.unsignedinteger]:
        """A column through a coarse map, in the narrowest type that holds both; the last map of each is kept."""
        table = np.asarray(recode)
        key = table.tobytes()
        known = self._coarse.get(name)
        if known is None or known[0] != key:
            known = (key, table.astype(np.min_scalar_type(int(table.max())))[column])
            self._coarse[name] = known
        return known[1]


def coarse_shape(
    domain: Domain, names: Sequence[str], recodes: Mapping[str, NDArray[np.intp]]
) -> tuple[int, ...]:  # fmt: skip
    """Shape of a marginal after the coarse maps, which are checked here."""
    shape = list(domain.shape(names))
    for i, name in enumerate(names):
        if name in recodes:
            recode = np.asarray(recodes[name])
            if recode.shape != (shape[i],) or recode.min() < 0:
                msg = f"the coarse map of '{name}' must give one coarse code to each of its {shape[i]} values"
                raise TableError(msg)
            shape[i] = int(recode.max()) + 1
    return tuple(shape)


def coarse_shapes(
    domain: Domain, sets: Sequence[Sequence[str]], recodes: Mapping[str, NDArray[np.intp]]
) -> list[tuple[int, ...]]:  # fmt: skip
    """The shapes of many marginals; each coarse map is checked once."""
    size = {n: coarse_shape(domain, (n,), recodes)[0] for n in dict.fromkeys(n for names in sets for n in names)}
    return [tuple(size[n] for n in names) for names in sets]


def check_codes(codes: NDArray[np.unsignedinteger], domain: Domain) -> None:
    """Raises TableError unless codes (n_attributes, n_records) lie inside the domain; names the attribute alone."""
    if codes.ndim != 2 or codes.shape[0] != len(domain):
        msg = f"the codes have {codes.ndim} axes; they need one row for each of the {len(domain)} attributes"
        raise TableError(msg)
    if codes.dtype.kind != "u":
        msg = f"codes have type {codes.dtype}; they must be unsigned integers, for example uint8"
        raise TableError(msg)
    if not codes.shape[1]:
        return
    top = codes.max(axis=1) if len(domain) else np.zeros(0)
    for attribute, largest in zip(domain.attributes, top, strict=True):
        if int(largest) >= attribute.size:
            msg = (
                f"attribute '{attribute.name}' has codes outside its domain of {attribute.size} values; "
                "encode the table with this schema"
            )
            raise TableError(msg)


def check_cells(names: Sequence[str], shape: Sequence[int], cap: int) -> None:
    """Raises SizeError when a cell product is above the cap; in Python integers, so that nothing overflows."""
    cells = 1
    for size in shape:
        cells *= int(size)
    if cells > cap:
        msg = (
            f"the marginal of {' x '.join(names)} has {cells} cells, above the cap of {cap}; "
            "use fewer attributes or coarser bins"
        )
        raise SizeError(msg)


def _groups(positions: list[int], shapes: list[tuple[int, ...]]) -> list[list[int]]:
    """Consecutive positions whose tables fit the working buffer together."""
    groups: list[list[int]] = []
    room = 0
    for p in positions:
        cells = shapes[p][0] * shapes[p][1]
        if cells > room or not groups:
            groups.append([])
            room = max(GROUP, cells)
        groups[-1].append(p)
        room -= cells
    return groups


def _count_group(
    codes: NDArray[np.unsignedinteger], first: int, seconds: list[int], sizes: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    from dpsyn_core.counting.kernels import count_pairs  # numba is heavy

    cells = sizes[first] * sizes[seconds]
    ends = np.cumsum(cells)
    buffer = np.zeros(int(ends[-1]), dtype=np.int32)
    count_pairs(codes, first, np.array(seconds, dtype=np.int64), sizes, ends - cells, buffer)
    return [buffer[e - c : e].astype(np.int64) for e, c in zip(ends, cells, strict=True)]


def _count_one(
    codes: NDArray[np.unsignedinteger], members: list[int], sizes: NDArray[np.int64], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    if not shape:
        return np.array(codes.shape[1], dtype=np.int64)
    from dpsyn_core.counting.kernels import count_cells  # numba is heavy

    out = np.zeros(int(np.prod(shape, dtype=np.int64)), dtype=np.int32)
    count_cells(codes, np.array(members, dtype=np.int64), sizes, out)
    return out.astype(np.int64).reshape(shape)
