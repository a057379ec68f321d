"""Tables of invented records from named public processes and a seed: what a benchmark measures systems on.

The process is public, and so is this file. Everything else, the strength of each dependence included, is drawn from
the seed, so that nobody who does not know the seed can tune a system to the table.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SettingError
from dpsyn_core.schema import Schema

SEED_BITS = 256  # as many as the digest that commits to it: neither can be searched
CLASSES = 8  # of the process 'classes'
BLOCK = 4  # columns that depend on all of each other, of the process 'blocks'
LEVELS = 64  # bins of a number, of the process 'numbers'
MOST_RECORDS, MOST_COLUMNS = 10_000_000, 200
Codes = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """A table that follows from a process and a seed. seed: hexadecimal, `SEED_BITS` long."""

    process: str
    records: int
    columns: int
    seed: str

    def __post_init__(self) -> None:
        """Raises SettingError for parameters that define no table."""
        if self.process not in PROCESSES:
            msg = f"'{str(self.process)[:40]}' is no process; there are {', '.join(PROCESSES)}"
            raise SettingError(msg)
        for what, number, most in (("records", self.records, MOST_RECORDS), ("columns", self.columns, MOST_COLUMNS)):
            if not isinstance(number, int) or isinstance(number, bool) or not 2 <= number <= most:
                msg = f"the number of {what} is {number}; it must be a whole number between 2 and {most:,}"
                raise SettingError(msg)
        if len(self.seed) != SEED_BITS // 4 or set(self.seed) - set("0123456789abcdef"):
            msg = f"the seed has to be {SEED_BITS // 4} hexadecimal digits, as they were revealed"
            raise SettingError(msg)

    @classmethod
    def fresh(cls, process: str, records: int, columns: int) -> Self:
        """With a seed that the operating system draws."""
        return cls(process=process, records=records, columns=columns, seed=secrets.token_hex(SEED_BITS // 8))

    @classmethod
    def of(cls, document: object) -> Self:
        """From what `document` gave. Raises SettingError."""
        if not isinstance(document, dict) or set(document) != {"process", "records", "columns", "seed"}:
            msg = "a secret has the fields process, records, columns and seed, and no others"
            raise SettingError(msg)
        return cls(
            process=str(document["process"]),
            records=document["records"],
            columns=document["columns"],
            seed=str(document["seed"]),
        )

    def document(self) -> dict[str, Any]:
        """JSON values, of which everything else follows."""
        return asdict(self)

    @property
    def commitment(self) -> str:
        """SHA-256, hex, of the document as JSON with sorted keys and no spaces. Published before, it fixes the draw."""
        return hashlib.sha256(json.dumps(self.document(), sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    def table(self) -> tuple[Any, Schema]:
        """The records as a pyarrow table, and their schema."""
        import pyarrow as pa

        rng = np.random.default_rng(int(self.seed, 16))
        codes, sizes, ordered = PROCESSES[self.process](self.records, self.columns, rng)
        names = [f"c{i:03d}" for i in range(self.columns)]
        attributes = [
            {"name": n, "kind": "numeric", "dtype": "integer", "min": 0, "max": k - 1, "bins": {"count": k}}
            if ordered
            else {"name": n, "kind": "categorical", "values": list(range(k))}
            for n, k in zip(names, sizes, strict=True)
        ]
        schema = Schema.of({"version": 1, "name": f"benchmark-{self.process}", "attributes": attributes})
        return pa.table({n: pa.array(c.astype(np.int64)) for n, c in zip(names, codes, strict=True)}), schema


Made = tuple[Codes, list[int], bool]


def _classes(n: int, d: int, rng: Generator) -> Made:
    """Each record is of one of 8 hidden classes, and its columns are independent given the class."""
    sizes = rng.integers(2, 25, d)
    hidden = rng.choice(CLASSES, n, p=rng.dirichlet(np.ones(CLASSES)))
    codes = np.stack([_follow(hidden, _rows(CLASSES, int(k), rng), rng) for k in sizes])
    return codes, sizes.tolist(), False


def _tree(n: int, d: int, rng: Generator) -> Made:
    """Each column follows one of the ten before it, some closely and some hardly at all."""
    sizes = rng.integers(2, 25, d)
    codes = np.zeros((d, n), dtype=np.uint8)
    for i, size in enumerate(sizes.tolist()):
        if i == 0:
            codes[i] = _follow(np.zeros(n, dtype=np.int64), _rows(1, size, rng), rng)
            continue
        parent = int(rng.integers(max(0, i - 10), i))
        codes[i] = _follow(codes[parent], _rows(int(sizes[parent]), size, rng), rng)
    return codes, sizes.tolist(), False


def _blocks(n: int, d: int, rng: Generator) -> Made:
    """Blocks of four columns of 2 to 5 values, of which each follows all before it in its block."""
    sizes = rng.integers(2, 6, d)
    codes = np.zeros((d, n), dtype=np.uint8)
    for i, size in enumerate(sizes.tolist()):
        key, width = np.zeros(n, dtype=np.int64), 1
        for j in range(i - i % BLOCK, i):
            key, width = key * sizes[j] + codes[j], width * int(sizes[j])
        codes[i] = _follow(key, _rows(width, size, rng), rng)
    return codes, sizes.tolist(), False


def _numbers(n: int, d: int, rng: Generator) -> Made:
    """Numbers of 64 bins with correlated normal scores, bent so that most columns are skewed."""
    factors = max(1, d // 4)
    scores = rng.normal(size=(d, factors)) @ rng.normal(size=(factors, n)) / np.sqrt(factors)
    scores += rng.gamma(1.0, 0.7, size=(d, 1)) * rng.normal(size=(d, n))
    scores /= scores.std(axis=1, keepdims=True)
    bent = np.exp(rng.normal(0.0, 0.6, size=(d, 1)) * scores)
    top = np.quantile(bent, 0.999, axis=1, keepdims=True)
    codes = np.clip(bent / top * LEVELS, 0, LEVELS - 1).astype(np.uint8)
    return codes, [LEVELS] * d, True


PROCESSES: dict[str, Callable[[int, int, Generator], Made]] = {
    "classes": _classes,
    "tree": _tree,
    "blocks": _blocks,
    "numbers": _numbers,
}


def _rows(width: int, size: int, rng: Generator) -> NDArray[np.float64]:
    """Probabilities (width, size) of a column given each of `width` causes; how close it follows is drawn too."""
    common = rng.dirichlet(np.full(size, 0.8))
    close = rng.beta(2.0, 1.0)
    return np.asarray((1 - close) * common + close * rng.dirichlet(np.full(size, 0.5), size=width))


def _follow(cause: NDArray[Any], rows: NDArray[np.float64], rng: Generator) -> Codes:
    """A value a record, by the probabilities of its cause."""
    below = np.cumsum(rows, axis=1)
    below[:, -1] = 1.0
    at = rng.random(len(cause))
    out = np.zeros(len(cause), dtype=np.uint8)
    for edge in below.T[:-1]:  # one pass for each value, not for each record
        out += at > edge[cause]
    return out
