"""Released marginals: views of a table are measured once by PriView, and any marginals are read off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsyn_core.marginals.maxent import Reconstruction, check_query
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger import Ledger
from dpsyn_core.privacy.manifest import Manifest
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.measured import measure
from dpsyn_core.runs.open import Declared
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.choose import source_of
from dpsyn_core.synthesizers.priview import PriViewConfig, reconstruct_from_views
from dpsyn_core.synthesizers.registry import configure

if TYPE_CHECKING:
    from dpsyn_core.sources.base import Source

METHOD = "priview"
COUNT = "count"  # the column of counts in a table of one marginal


def release_marginals(
    table: Source | Any,
    schema: Schema,
    queries: Sequence[Sequence[str]],
    *,
    epsilon: float,
    delta: float,
    settings: Mapping[str, Any] | None = None,
    dataset: str | None = None,
    ledger: Ledger | None = None,
    strict: bool = False,
    query_vouched: bool = False,
    progress: Progress = silent,
) -> tuple[list[Reconstruction], Manifest]:
    """Releases views once and reads any number of marginals off them.

    With the strategy `direct`, what is asked for is measured itself, and shares the budget.

    Guarantee: (epsilon, delta)-DP for all of them together, for the schema's unit of privacy.

    Args:
        table: pandas, polars or pyarrow; or a source.
        schema: public metadata.
        queries: attribute names of each marginal.
        epsilon: privacy budget, above 0.
        delta: 0 (pure DP) or in (0, 1).
        settings: of the method priview.
        dataset: name on the ledger; None takes the schema's name.
        ledger: None is the ledger in DPSYN_HOME.
        strict: see `synthesize`.
        query_vouched: see `synthesize`.
        progress: called with stage, done, total and a convergence value.

    Raises:
        InputError: before anything is charged, when a name, the budget, the schema or the table does not fit.
    """
    domain = schema.domain()
    for names in queries:
        check_query(domain, names)
    config = PriViewConfig(**configure(METHOD, settings or {}).model_dump())
    if config.strategy == "direct" and not config.queries:
        config = config.model_copy(update={"queries": tuple(tuple(q) for q in queries)})
    budget = Budget(epsilon=epsilon, delta=delta)
    measured = measure(
        source_of(table, strict=strict),
        schema,
        config,
        budget=budget,
        dataset=dataset,
        ledger=ledger,
        progress=progress,
    )
    found = [
        reconstruct_from_views(measured.released, tuple(names), config, n_public=schema.n_records) for names in queries
    ]
    declared = Declared.by(schema, query_vouched=query_vouched)
    manifest = measured.run.manifest(declared, settings=config.model_dump(mode="json"), n_records=0)
    return found, manifest


def as_table(found: Reconstruction, schema: Schema) -> Any:
    """A pyarrow table with one row a cell: a column of labels for each attribute, and `count`."""
    import pyarrow as pa

    words = {a.name: a.labels() for a in schema.coded}
    cells = np.indices(found.values.shape).reshape(found.values.ndim, -1)
    columns = {n: pa.array(np.array(words[n], dtype=object)[cells[i]]) for i, n in enumerate(found.attributes)}
    return pa.table({**columns, COUNT: pa.array(found.values.ravel())})


def as_document(found: Sequence[Reconstruction], schema: Schema) -> dict[str, Any]:
    """All marginals as one JSON document."""
    words = {a.name: a.labels() for a in schema.coded}
    return {
        "marginals": [
            {
                "attributes": list(f.attributes),
                "labels": [list(words[n]) for n in f.attributes],
                "counts": f.values.tolist(),
                "covered": f.covered,
                "residual": f.residual,
            }
            for f in found
        ]
    }
