"""TableSynthesizer: fit and sample, as scikit-learn and SDV have them, over one run of the engine."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from numpy.random import Generator

from dpsyn_core.errors import SchemaWarning, SettingError
from dpsyn_core.measure import source_of
from dpsyn_core.runs.measurement import Measured, measure, post_processing_generator
from dpsyn_core.runs.release import Release, in_memory
from dpsyn_core.runs.spec import RunOptions, RunSpec
from dpsyn_core.schema import Schema


class TableSynthesizer:
    """Measures a table once, which is charged, and samples any number of times, at no further privacy cost.

    Guarantee: that of `synthesize`. Without a schema one is drafted from the table, and the release is NOT PRIVATE.
    """

    def __init__(
        self,
        schema: Schema | Mapping[str, Any] | str | Path | None = None,
        *,
        epsilon: float,
        delta: float = 1e-9,
        rng: Generator | int | None = None,
        **options: Unpack[RunOptions],
    ) -> None:
        """Keeps what `synthesize` takes, with its options."""
        self._schema = None if schema is None else Schema.given(schema)
        self._generator, seed = post_processing_generator(rng)
        self._spec = RunSpec.of(epsilon=epsilon, delta=delta, seed=seed, **options)
        self._measured: Measured | None = None
        self.release: Release | None = None

    def fit(self, table: Any) -> TableSynthesizer:
        """Measures a table: pandas, polars, pyarrow or a path. Charges the ledger. Raises InputError."""
        schema = self._schema
        if schema is None:
            from dpsyn_core.schema import draft

            schema = draft(table, self._spec.dataset or "table")
            msg = (
                "the schema was drafted from the table, so that what is sampled is NOT PRIVATE; give one that you have "
                "checked: draft_schema(table, name), then confirm_schema(...)"
            )
            warnings.warn(msg, SchemaWarning, stacklevel=2)
        facts = self._spec.facts(schema, query_vouched=False)
        self._measured = measure(source_of(table, schema=schema), schema, self._spec, facts=facts, rng=self._generator)
        return self

    def sample(self, n: int | None = None) -> Any:
        """A synthetic table of n records, None: as many as were released; `release` then has its manifest."""
        if self._measured is None:
            msg = "nothing was measured yet; call fit(table) before sample(n)"
            raise SettingError(msg)
        spec = self._measured.spec.model_copy(update={"n_records": n})
        self.release = in_memory(replace(self._measured, spec=spec))
        return self.release.table
