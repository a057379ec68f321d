"""MemoryCounter: exact marginals of records that fit in memory, by compiled kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError, TableError
from dpsyn_core.estimate import NO_RECODES, Coarsening, Recodes, coarse_shape
from dpsyn_core.measure.counting.joint import Joint
from dpsyn_core.schema import AttributeSet, Domain

if TYPE_CHECKING:
    from dpsyn_core.measure.counting.sums import Sample, SumRule, VectorMap

MAX_CELLS = 50_000_000  # 400 MB of int64 counts
MAX_RECORDS = 2**31 - 1  # the kernels count in int32
GROUP = 1 << 22  # cells counted at a time in the working buffer: 16 MB
TABLES = 16  # that a thread counts at a time
THREADS = 2  # each counts other tables; whole numbers do not depend on who counted them
ALONE = 200_000_000  # records times tables up to which one thread counts: some tenths of a second


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
            raise too_many_records()
        self.domain = domain
        self.max_cells = max_cells
        self._codes = np.ascontiguousarray(codes)
        self._coarse: dict[str, tuple[Coarsening, NDArray[np.unsignedinteger]]] = {}

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """Exact counts, one axis an attribute; () gives the total as a 0-dimensional array.

        Args:
            attributes: names, in any order; the axes follow it.
            recodes: of attributes that are counted coarsely.

        Raises:
            SizeError: the cell product is above the cap.
        """
        return self.marginals([attributes], recodes)[0]

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """Many at once, in the order of `sets`; many small ones are sums of fewer larger ones (`counting.joint`)."""
        shapes = [coarse_shape(self.domain, names, recodes) for names in sets]
        for names, shape in zip(sets, shapes, strict=True):
            check_cells(names, shape, self.max_cells)
        codes, row, sizes = self._columns(sets, recodes)
        n = codes.shape[1]
        joint = Joint([[row[name] for name in names] for names in sets], sizes, records=n)
        out = [np.zeros(shape, dtype=np.int64) for shape in shapes]
        joint.add_records(out, n)

        def count(part: range) -> None:
            counts = joint.zeros(part)
            joint.count(codes, part, counts)
            joint.add_to(out, part, counts)

        if n * len(sets) > ALONE:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(count, joint.parts(GROUP, TABLES)))
        else:
            for part in joint.parts(GROUP):
                count(part)
        return out

    def occupied(
        self, attributes: AttributeSet, recodes: Recodes = NO_RECODES
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

    def blocks(self, names: Sequence[str]) -> Iterator[NDArray[np.unsignedinteger]]:
        """All records as one block; see `counting.blocks.BlockCounter`."""
        yield self._codes[[self.domain.index(n) for n in names]]

    def vector_sum(self, rule: SumRule, maps: Sequence[VectorMap], sample: Sample | None = None) -> NDArray[np.int64]:
        """Exact sums of clipped vectors of the records; see `counting.sums.VectorCounter`."""
        from dpsyn_core.measure.counting.sums import block_sum

        columns = {name: self._codes[i] for i, name in enumerate(self.domain.names)}
        return block_sum(columns, self._codes.shape[1], rule, maps, sample)

    def _columns(
        self, sets: Sequence[AttributeSet], recodes: Recodes
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
        self, name: str, column: NDArray[np.unsignedinteger], recode: Coarsening
    ) -> NDArray[np.unsignedinteger]:
        """A column through a coarse map, in the narrowest type that holds both; the last map of each is kept."""
        cached = self._coarse.get(name)
        if cached is None or cached[0] != recode:
            cached = (recode, coarse_codes(column, recode, np.min_scalar_type(recode.size - 1)))
            self._coarse[name] = cached
        return cached[1]


def too_many_records() -> SizeError:
    """The sentence for a table that no counter of this machine can count."""
    return SizeError(
        f"the table has more than {MAX_RECORDS} records (for the owner only); draw a sample of the individuals first"
    )


def coarse_codes(
    column: NDArray[np.unsignedinteger], recode: Coarsening, kind: np.dtype[Any]
) -> NDArray[np.unsignedinteger]:
    """Codes (n_records,) through a coarse map, in a type that holds all coarse codes."""
    from dpsyn_core.measure.counting.kernels import recoded  # numba is heavy

    out = np.empty(len(column), dtype=kind)
    recoded(column, recode.map.astype(kind), out)
    return out


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
