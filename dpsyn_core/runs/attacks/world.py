"""World: the records of all shadow runs, and the coins that decide which of them a run gets. In memory only.

Membership adds invented people (canaries) to the owner's table; the other attacks put about half of the owner's people
into the table of a run, and the other half is the control group. Either way a coin moves one individual, in the sense
of the schema's unit of privacy, so that what a run may tell of a coin is what its epsilon promises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import TableError
from dpsyn_core.measure import MemoryCounter, Opened, bound
from dpsyn_core.progress import Progress
from dpsyn_core.runs.attacks.result import AttackSpec
from dpsyn_core.schema import Codec, Codes, Encoded, Schema, with_spans

ALWAYS = -1
ARRAYS = ("codes", "people", "coin", "side", "target")
FEWEST = 20  # individuals that an attack needs


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """All records that some run may get; private.

    codes: unsigned (n_attributes, n). people: (n,) number of each record's individual. coin: (n,) number of the coin
    that decides about the record, or ALWAYS. side: (n,) the value of that coin that puts the record into the table.
    coins: how many there are. target: (coins,) a record with side 1 of each coin, which the attack is about.
    table_records: of the owner's table. weight: (n,) what each record counts; None: 1.
    """

    codes: Codes
    people: NDArray[np.int64]
    coin: NDArray[np.int64]
    side: NDArray[np.bool_]
    coins: int
    target: NDArray[np.int64]
    table_records: int
    weight: NDArray[np.float64] | None = None

    def drawn(self, tossed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which records are in the table of a run, from its coins (coins,)."""
        always = self.coin == ALWAYS
        return np.asarray(always | (tossed[np.maximum(self.coin, 0)] == self.side))

    @property
    def usual(self) -> int:
        """Records that a run has on average."""
        return round(self.usual_weight)

    @property
    def weights(self) -> NDArray[np.float64]:
        """What each record counts, (n,)."""
        return np.ones(len(self.coin)) if self.weight is None else self.weight

    @property
    def usual_weight(self) -> float:
        """What the records of a run count together, on average."""
        return float((np.where(self.coin == ALWAYS, 1.0, 0.5) * self.weights).sum())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by names."""
        return {name: getattr(self, name) for name in ARRAYS}

    def facts(self) -> dict[str, Any]:
        """What is no array, as JSON values."""
        return {"coins": self.coins, "table_records": self.table_records}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> World:
        """From `arrays` and `facts`."""
        fields: dict[str, Any] = {**arrays, **facts}
        return cls(**fields)


class WorldSource:
    """The table of one shadow run, as a source: encoded before, bounded and counted anew. See `Source`."""

    def __init__(self, world: World, names: Sequence[str], tossed: NDArray[np.bool_]) -> None:
        """Keeps the world, whose codes are of the named columns, and the coins of the run."""
        self._world, self._names, self._tossed = world, tuple(names), tossed

    @contextmanager
    def open(self, schema: Schema, *, progress: Progress) -> Iterator[Opened]:
        """Codes of the records that the coins put into the table."""
        got, domain = self._world.drawn(self._tossed), schema.domain()  # a part of the columns of the world
        rows = [self._names.index(n) for n in domain.names]  # without columns that are computed and not measured
        names = None
        if schema.unit.identifier is not None:
            names = text_of(self._world.people[got])
        encoded = Encoded(codes=np.ascontiguousarray(self._world.codes[rows][:, got]), identifiers=names)
        codes = bound(encoded, schema.unit.max_records)
        yield Opened(counter=MemoryCounter(codes, domain), n_records=codes.shape[1], columns=self._names)

    def returned(self, table: Any) -> Any:
        """As it is."""
        return table


def text_of(people: NDArray[np.int64]) -> Any:
    """Made-up identifiers, as the codec hands them out: a pyarrow dictionary array of text."""
    import pyarrow as pa

    names, index = np.unique(people, return_inverse=True)
    return pa.DictionaryArray.from_arrays(pa.array(index.astype(np.int32)), pa.array([f"person {n}" for n in names]))


def build(table: Any, schema: Schema, spec: AttackSpec, *, rng: Generator) -> tuple[World, Schema]:
    """The world of an attack, and the schema of its runs, whose public number of records is that of a run.

    The codes of the world are those of `with_spans(schema)`: what a run may measure.

    Args:
        table: the owner's, pyarrow.
        schema: public metadata.
        spec: of the attack.
        rng: for the sample of individuals, canaries and who is attacked.

    Raises:
        TableError: too few individuals.
    """
    whole = with_spans(schema)
    encoded = Codec(whole).encode(table)
    codes, people = encoded.codes, _people(encoded)
    individuals = np.unique(people)
    check_enough(len(individuals))
    per = codes.shape[1] / len(individuals)
    most = max(FEWEST, int(spec.records / per))
    if len(individuals) > most:
        chosen = np.isin(people, rng.choice(individuals, most, replace=False))
        codes, people = np.ascontiguousarray(codes[:, chosen]), people[chosen]
    make = _with_canaries if spec.kind == "membership" else _halves
    world = make(codes, np.unique(people, return_inverse=True)[1], whole, spec, encoded.n_records, rng)
    public = None if schema.n_records is None else world.usual
    return world, schema.model_copy(update={"n_records": public})


def check_enough(individuals: int) -> None:
    """Raises TableError for too few individuals."""
    if individuals < FEWEST:
        msg = f"an attack needs at least {FEWEST} individuals, and the table has fewer; give more records"
        raise TableError(msg)


def _people(encoded: Encoded) -> NDArray[np.int64]:
    """The individual of each record (n,), by number."""
    if encoded.identifiers is None:
        return np.arange(encoded.n_records)
    numbers: NDArray[np.int64] = encoded.identifiers.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _with_canaries(
    codes: Codes, people: NDArray[np.int64], schema: Schema, spec: AttackSpec, whole: int, rng: Generator
) -> World:
    """Canaries: individuals of `max_records` equal records whose values are drawn evenly from the schema's.

    Under replace neighbours each takes the place of a person of the table.
    """
    count, domain = people.max() + 1, schema.domain()
    m, theta = min(spec.canaries, int(count) // 4), schema.unit.max_records
    canaries = np.stack([rng.integers(0, size, m) for size in domain.sizes]).astype(codes.dtype)
    n = codes.shape[1]
    coin = coins_of_canaries(int(count), m, schema.unit.neighbours, rng)[people]
    side = np.zeros(n, dtype=bool)
    return World(
        codes=np.concatenate([codes, np.repeat(canaries, theta, axis=1)], axis=1),
        people=np.concatenate([people, np.repeat(count + np.arange(m), theta)]),
        coin=np.concatenate([coin, np.repeat(np.arange(m), theta)]),
        side=np.concatenate([side, np.ones(m * theta, dtype=bool)]),
        coins=m,
        target=n + theta * np.arange(m),
        table_records=whole,
    )


def _halves(
    codes: Codes, people: NDArray[np.int64], schema: Schema, spec: AttackSpec, whole: int, rng: Generator
) -> World:
    """A coin per individual decides who is in; under replace neighbours one coin picks one of every two."""
    place, sides, coins = coins_of_halves(int(people.max()) + 1, schema.unit.neighbours, rng)
    kept = place[people] != ALWAYS  # an odd one out
    codes, people = np.ascontiguousarray(codes[:, kept]), people[kept]
    coin, side = place[people], sides[people]
    target = np.zeros(coins, dtype=np.int64)
    shuffled = rng.permutation(np.flatnonzero(side))
    target[coin[shuffled]] = shuffled  # of an individual's records, any one
    return World(codes=codes, people=people, coin=coin, side=side, coins=coins, target=target, table_records=whole)


def coins_of_canaries(count: int, canaries: int, neighbours: str, rng: Generator) -> NDArray[np.int64]:
    """The coin of each individual of the owner, (count,): under replace neighbours some give way to a canary each."""
    coin = np.full(count, ALWAYS)
    if neighbours == "replace":
        coin[rng.choice(count, canaries, replace=False)] = np.arange(canaries)
    return coin


def coins_of_halves(count: int, neighbours: str, rng: Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_], int]:
    """A coin for each individual, under replace neighbours for each two; an odd one out has none.

    Returns coin (count,), side (count,), and how many coins there are.
    """
    order = rng.permutation(count)
    pairs = neighbours == "replace"
    coins = count // 2 if pairs else count
    place, sides = np.full(count, ALWAYS), np.ones(count, dtype=bool)
    place[order[:coins]] = np.arange(coins)
    if pairs:
        place[order[coins : 2 * coins]] = np.arange(coins)
        sides[order[coins:]] = False
    return place, sides, coins
