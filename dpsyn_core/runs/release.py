"""One release: encode, bound, reserve on the ledger, measure, post-process, decode, and state it in a manifest."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.errors import SchemaError, SettingError
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.noise.system import SystemNoise
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.ledger import Ledger
from dpsyn_core.privacy.manifest import Manifest
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.bounding import bound
from dpsyn_core.synthesizers import registry
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.tables.frames import from_arrow, to_arrow

MAX_RECORDS = 100_000_000  # records that one run may write


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """What leaves the engine. Everything here is released or computed from released values.

    table: synthetic, of the kind and with the column types that were handed in (pandas, polars or pyarrow), columns
    in the schema's order. arrow: the same with the types that the schema declares.
    measurements: what the system released, in its own form. codes: (n_attributes, n_records).
    """

    table: Any
    arrow: Any
    manifest: Manifest
    measurements: Any
    codes: NDArray[np.unsignedinteger]

    @property
    def marginals(self) -> list[Measurement]:
        """Released marginals, for the report that is safe to publish; systems that release other things have none."""
        found = self.measurements
        return [m for m in found if isinstance(m, Measurement)] if isinstance(found, list | tuple) else []


def synthesize(
    table: Any,
    schema: Schema | str | Path,
    *,
    epsilon: float,
    delta: float,
    rng: Generator | int | None,
    method: str | None = None,
    settings: Mapping[str, Any] | None = None,
    n_records: int | None = None,
    dataset: str | None = None,
    ledger: Ledger | None = None,
    progress: Progress = silent,
) -> Release:
    """Makes a differentially private synthetic table.

    Guarantee: (epsilon, delta)-DP for the schema's unit of privacy, as the manifest states it, provided that the
    schema is public knowledge (or bought); otherwise the manifest says NOT PRIVATE.

    Args:
        table: pandas, polars or pyarrow.
        schema: public metadata, or the path of its file.
        epsilon: privacy budget, above 0.
        delta: 0 (pure DP) or in (0, 1).
        rng: seed or generator of the post-processing; None draws a fresh seed, which the manifest records.
        method: a name of `registry.names()`; None is the default system.
        settings: of that system.
        n_records: records to write; None takes the schema's public number, else a released total.
        dataset: name on the ledger; None takes the schema's name.
        ledger: None is the ledger in DPSYN_HOME.
        progress: called with stage, done, total and a convergence value.

    Raises:
        InputError: before anything is charged, when budget, schema, table, method or settings do not fit.
    """
    if not isinstance(schema, Schema):
        schema = Schema.load(schema)
    budget = Budget(epsilon=epsilon, delta=delta)
    unit = Unit(**schema.unit.model_dump())
    name = registry.DEFAULT if method is None else method
    config = registry.configure(name, settings or {})
    generator, seed = post_processing_generator(rng)
    if n_records is not None and not 0 <= n_records <= MAX_RECORDS:
        msg = f"n_records is {n_records}; it must lie between 0 and {MAX_RECORDS:,}"
        raise SettingError(msg)

    task = Task(domain=schema.domain(), unit=unit, budget=budget, n_public=schema.n_records)
    system = config.calibrate(task)
    progress("encoding", 0, 1)
    codec, frame = Codec(schema), to_arrow(table)
    order = frame.column_names
    codes = bound(codec.encode(frame), unit.max_records)
    fixed = unit.neighbours == "replace" and unit.max_records == 1  # then the number is public: this tells nothing
    if config.guarantee.needs_public_n and fixed and codes.shape[1] > (schema.n_records or 0):
        msg = "the table has more records than the schema's n_records; correct it, or use the method 'rls'"
        raise SchemaError(msg)
    counter = MemoryCounter(codes, task.domain)

    # rule 5: the whole run is on the ledger, and on disk, before anything is counted
    book = Ledger() if ledger is None else ledger
    run_id = uuid.uuid4().hex
    named = schema.name if dataset is None else dataset
    book.reserve(named, system.cost, budget=budget, unit=unit, method=name, run_id=run_id, delta=system.failure)
    gate = Gate(account=Account(system.cost, delta=system.failure), noise=SystemNoise(), unit=unit)
    measured = system.measure(counter, gate=gate, progress=progress)
    del counter, codes, frame
    started = time.perf_counter()  # how long reading and counting took would tell the number of records

    wanted = schema.n_records if n_records is None else n_records
    made = system.synthesize(measured, wanted, rng=generator, progress=progress)
    progress("decoding", 0, 1)
    arrow = codec.decode(made, rng=generator, order=order)
    manifest = Manifest.build(
        budget=budget,
        unit=unit,
        charges=gate.account.charges,
        method=name,
        settings=config.model_dump(mode="json"),
        n_records=made.shape[1],
        dataset=named,
        run_id=run_id,
        schema_name=schema.name,
        schema_hash=hashlib.sha256(schema.dumps().encode()).hexdigest(),
        seed=seed,
        seconds=time.perf_counter() - started,
        reasons=schema.reasons,
        bought=[Charge(**b.model_dump(exclude={"unit"})) for b in schema.bought],
    )
    return Release(
        table=from_arrow(arrow, like=table), arrow=arrow, manifest=manifest, measurements=measured, codes=made
    )


def post_processing_generator(rng: Generator | int | None) -> tuple[Generator, int | None]:
    """The generator and the seed that the manifest records (None for a caller's own generator)."""
    if isinstance(rng, Generator):
        return rng, None
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, int) or rng < 0):
        msg = f"the seed is {rng!r}; it must be a whole number of at least 0"
        raise SettingError(msg)
    seed = int(SeedSequence().entropy) % 2**53 if rng is None else rng  # type: ignore[arg-type]
    return np.random.default_rng(seed), seed
