"""Runs one release from a table, or tables that hang together, to synthetic ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from numpy.random import Generator

from dpsyn_core.errors import BudgetWarning, TableError
from dpsyn_core.measure import Source, memory_of, source_of, vouched
from dpsyn_core.privacy import Ledger
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.measurement import measure, post_processing_generator
from dpsyn_core.runs.release import Release, in_memory
from dpsyn_core.runs.spec import RunOptions, RunSpec
from dpsyn_core.schema import Schema


def synthesize(
    table: Source | Any,
    schema: Schema | Mapping[str, Any] | str | Path,
    *,
    epsilon: float,
    delta: float,
    rng: Generator | int | None = None,
    ledger: Ledger | None = None,
    strict: bool = False,
    engine: str | None = None,
    memory: int | str | None = None,
    query_vouched: bool = False,
    progress: Progress = silent,
    **options: Unpack[RunOptions],
) -> Release:
    """Makes a differentially private synthetic table, or tables that hang together.

    Guarantee: (epsilon, delta)-DP for the schema's unit of privacy, as the manifest states it, provided that the
    schema is public knowledge (or bought); otherwise the manifest says NOT PRIVATE.

    Args:
        table: pandas, polars or pyarrow; the path of a file, a folder or a pattern of files; or a source, for records
            that are elsewhere. Linked tables by their names, each a frame or as `tables.read.open_table` opens it; of
            tables of one file, that one.
        schema: public metadata: a schema, its document as a dictionary, or the path of its file.
        epsilon: privacy budget, above 0.
        delta: 0 (pure DP) or in (0, 1).
        rng: seed or generator of the post-processing; None draws a fresh seed, which the manifest records.
        ledger: None is the ledger in DPSYN_HOME.
        strict: refuse a table without records, or with cells that the schema has no place for, instead of leaving
            those records out. Whether it refuses is an exact answer about the data, for the owner only.
        engine: where records are counted: 'memory', or 'stored' (codes on disk, docs/reference/scale.md);
            None chooses by the size of the table. All count the same.
        memory: bytes that reading and counting may use, or text such as '4GB'; None: half of the machine's.
        query_vouched: the table is the answer to a query, and that the query reads each record by itself is the owner's
            word; the manifest states it. What was opened by `open_table` with that word says it itself.
        progress: called with stage, done, total and a convergence value.
        options: what else a run takes, by name:
            method: a name of `registry.names()`; None is the default system.
            settings: of that system.
            n_records: records to write (of linked tables: roots); None: the schema's public number, else a released
                one.
            dataset: name on the ledger; None takes the schema's name.
            tables: how many synthetic tables to make of the one release. More than one are fitted each to the released
                counts after their noise was drawn again, so that an analysis that is run on all of them, and put
                together by `dpsyn_core.questions.answers.combination`, knows what the noise does to it. They cost no
                further budget.
            questions: what will be asked of the table (docs/questions.md): a `Questions`, the parsed JSON, or the path
                of a file; None takes those of the schema file. Public: they must not come from looking at the data.
            questions_share: of what pairs of attributes would get, for the tables that questions need, from 0 to 1;
                None is at most half.
            public_table: path of a table with columns of the schema that the owner vouches is public, such as last
                year's release: the system learns from it at no budget, as far as what it measures bears it out. The
                manifest names it. Never the private table, nor anything computed from it without protection.
            chosen_on: the public table by which system and settings were chosen, for the manifest; None: by none.

    Warns:
        BudgetWarning: epsilon promises next to nothing.

    Raises:
        InputError: before anything is charged, when budget, schema, table, method or settings do not fit.
    """
    declared = Schema.given(schema)
    generator, seed = post_processing_generator(rng)
    spec = RunSpec.of(epsilon=epsilon, delta=delta, seed=seed, **options)
    if caution := spec.budget.caution:
        warnings.warn(caution, BudgetWarning, stacklevel=2)
    if declared.links:
        from dpsyn_core.runs.trees.release import TreePlan, TreeSource, release_tree

        given = TreeSource(tables=table, memory=memory_of(memory), engine=engine, strict=strict, vouched=query_vouched)
        return release_tree(
            given, TreePlan.of(spec, declared), rng=generator, seed=seed, ledger=ledger, progress=progress
        )
    check_one_table(table, declared)
    if spec.public_table is not None:
        from dpsyn_core.runs.public_table import check_apart

        check_apart(Path(spec.public_table), table)
    source = source_of(table, strict=strict, engine=engine, memory=memory, schema=declared)
    facts = spec.facts(declared, query_vouched=query_vouched or vouched(table))
    measured = measure(source, declared, spec, facts=facts, rng=generator, ledger=ledger, progress=progress)
    return in_memory(measured, progress=progress)


def check_one_table(table: Any, schema: Schema) -> None:
    """Raises TableError for tables by name where the schema describes one."""
    if isinstance(table, Mapping):
        msg = (
            f"the schema '{schema.name}' describes one table, and tables by name were given; give that table alone, "
            "or a schema with links"
        )
        raise TableError(msg)
