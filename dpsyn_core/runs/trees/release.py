"""One release of tables that hang together: bound, measure through the gate, make them, state it in a manifest."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from numpy.random import Generator

from dpsyn_core.errors import QuestionError, SettingError, SizeError, TableError
from dpsyn_core.estimate import Need
from dpsyn_core.measure import check_widest, vouched
from dpsyn_core.privacy import Cost, Ledger, Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.questions import Questions
from dpsyn_core.runs.open import Run, open_run, public_facts
from dpsyn_core.runs.release import Release
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.trees.answers import answers_of, asked_needs, measure_questions
from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.chunks import parts_of, put_together, roots_at_once
from dpsyn_core.runs.trees.decoder import check_linked_rules, decoded
from dpsyn_core.runs.trees.division import Costs, check_drawable, costs_of, noise_of
from dpsyn_core.runs.trees.fit import TreeFit, TreeRelease
from dpsyn_core.runs.trees.flat_table import AskedTable
from dpsyn_core.runs.trees.forest import Forest
from dpsyn_core.runs.trees.measurement import SHARES, LinkedShares
from dpsyn_core.runs.trees.real_tables import RealForests, stored_forests
from dpsyn_core.schema import METHOD, Domain, LinkedSchema, LinkedSettings, SchemaUnit, measured_schema
from dpsyn_core.systems import DEFAULT, MethodConfig, PublicTable, RlsConfig, configure
from dpsyn_core.tables import Batches, from_arrow, naming, to_arrow


@dataclass(frozen=True, kw_only=True, slots=True)
class TreePlan:
    """All that is public of a run on linked tables.

    schema: as declared. working: that of the columns that are measured. asked: questions across links. needs: the table
    of each. cost: of the whole run, costs: of its parts. public: records like the roots, of a table that is public.
    """

    schema: LinkedSchema
    working: LinkedSchema
    spec: RunSpec
    config: MethodConfig
    asked: Questions
    needs: Sequence[tuple[AskedTable, Need]]
    cost: Cost
    costs: Costs
    public: PublicTable | None = None

    @classmethod
    def of(cls, spec: RunSpec, schema: Any, shares: LinkedShares = SHARES) -> TreePlan:
        """Checks all that can be checked before anything is charged. Raises InputError."""
        config = configure(DEFAULT if spec.method == METHOD else spec.method, spec.settings)
        config.check_links()
        spec.check()
        cost = spec.budget.gaussian() if spec.delta else spec.budget.pure()
        asked = Questions.of(spec.questions or [])
        if asked.questions:
            msg = (
                f"question '{asked.questions[0].name}' names no table, and the schema describes {len(schema.tables)}; "
                'ask it as {"about": TABLE, "ask": {...}} (docs/linked.md)'
            )
            raise QuestionError(msg)
        working: LinkedSchema = measured_schema(schema, asked.asked_across())
        public = None if spec.public_table is None else public_root(spec.public_table, working, config)
        needs = asked_needs(working, asked)
        weights = [float(table.question.ask.weight) for table, _ in needs]
        pairs = isinstance(config, RlsConfig)
        costs = costs_of(working, cost, shares, weights, share=spec.questions_share, pairs=pairs)
        check_drawable(working, costs, pairs=pairs)
        for (table, _), part in zip(needs, costs.questions, strict=True):
            check_widest(noise_of(part, schema.unit.counting(table.unit)))
        check_linked_rules(schema)
        return cls(
            schema=schema,
            working=working,
            spec=spec,
            config=config,
            asked=asked,
            needs=needs,
            cost=cost,
            costs=costs,
            public=public,
        )

    @property
    def pairs(self) -> bool:
        """Whether columns are counted in pairs; see `stages_of`."""
        return isinstance(self.config, RlsConfig)

    @property
    def settings(self) -> LinkedSettings:
        """What the manifest states of the run, but for the numbers of records."""
        rest = self.config.model_dump(mode="json", exclude_defaults=True)
        return LinkedSettings(
            effort=float(rest.pop("effort", 1.0)),
            questions=tuple(self.asked.asked_across()),
            system=self.config.name,
            settings=rest,
            questions_share=self.spec.questions_share,
            copies=self.spec.tables,
        )


def public_root(given: str, schema: LinkedSchema, config: MethodConfig) -> PublicTable:
    """The public table of a run on linked tables, in codes of the columns of the root.

    Args:
        given: NAME=FILE, where NAME is the root.
        schema: of the columns that are measured.
        config: the system.

    Raises:
        InputError: it names another table, or does not fit the root's schema.
    """
    from dpsyn_core.runs.public_table import read_public

    config.check_public_table()
    name, sign, path = given.partition("=")
    root = schema.root.name
    if not sign or name != root:
        some = ", ".join(t.name for t in schema.tables)
        why = PUBLIC_CHILDREN if sign and name in [t.name for t in schema.tables] else f"the tables are {some}"
        msg = f"--public-table got '{given[:80]}'; of linked tables it is {root}=FILE: {why}"
        raise SettingError(msg)
    table = read_public(Path(path), schema.table_alone(root))
    attributes = tuple(replace(a, name=f"{root}.{a.name}") for a in table.domain.attributes)
    return replace(table, domain=Domain(attributes))


PUBLIC_CHILDREN = (
    "a public table is learnt from for the root alone, for what is measured of children rests on the roots that were "
    "made before"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeSource:
    """Real tables as they were handed in, and how they may be read.

    tables: by name: pandas, polars or pyarrow; of tables of one file, that one; or as `tables.read.open_table` opens
    them, which are read part by part and counted from disk where they do not fit. memory: bytes that the run may use;
    None: half of what the machine has, and 8 GB where it decides how many roots are synthesized at a time. engine:
    'memory' or 'stored'; None: by their size. strict: refuse records that have no place instead of leaving them out: an
    exact answer, for the owner only. vouched: that the query behind a table reads each record by itself is the owner's
    word.
    """

    tables: Any
    memory: int | None = None
    engine: str | None = None
    strict: bool = False
    vouched: bool = False


def release_tree(
    source: TreeSource,
    plan: TreePlan,
    *,
    rng: Generator,
    seed: int | None,
    ledger: Ledger | None = None,
    progress: Progress = silent,
) -> Release:
    """Makes differentially private synthetic tables that hang together.

    Guarantee: (epsilon, delta)-DP for one root with all that hangs on it, more or less, or exchanged where the schema
    says replace (docs/proofs/linked.md), provided that the schema is public knowledge; otherwise the manifest says NOT
    PRIVATE.

    Args:
        source: the real tables.
        plan: of the run.
        rng: of the post-processing.
        seed: of `rng`, for the manifest; None for a caller's generator.
        ledger: None is the ledger in DPSYN_HOME.
        progress: receives the stages.

    Raises:
        InputError: before anything is charged, when the tables do not fit.
    """
    declared, spec = plan.schema, plan.spec
    progress("encoding", 0, 1)
    given = by_name(source.tables, declared)
    word = source.vouched or any(map(vouched, given.values()))
    facts = public_facts(
        declared, dataset=spec.dataset, query_vouched=word, reasons=plan.config.reasons, public_table=spec.chosen_on
    )
    if plan.public is not None:
        facts = replace(facts, public_table=plan.public.used())
    parts = parts_of(given, declared, source.memory, source.engine)
    if parts is not None and plan.asked.across:
        msg = (
            "the tables are counted from disk, since they do not fit the memory that may be used (for the owner only), "
            "and questions across links are answered of tables in memory: allow more, or leave the questions out"
        )
        raise SizeError(msg)
    most = roots_at_once(declared, source.memory)
    with ExitStack() as stack:
        forest = None
        if parts is None:
            frames = frames_of(given)
            headers = {name: tuple(frame.column_names) for name, frame in frames.items()}
            forest, _ = bounded(plan.working, frames, strict=source.strict)
            real = RealForests.whole(forest, plan.working)
            del frames
        else:
            headers = {name: batches.columns for name, batches in given.items()}
            real = stack.enter_context(stored_forests(plan.working, given, parts=parts, strict=source.strict))
        progress("encoding", 1, 1)  # how many parts there are tells the number of roots
        run, released, forests = private_phase(real, forest, plan, most=most, rng=rng, ledger=ledger, progress=progress)
    forest = real = None  # type: ignore[assignment]
    started = time.perf_counter()  # how long counting took would tell the number of records
    released = replace(released, headers=headers)
    arrows = tuple(
        put_together((decoded(one, declared, headers, rng=rng, measured=plan.working) for one in made), declared)
        for made in copies_of(plan, released, forests, most=most, rng=rng, progress=progress)
    )
    named = {t.name: arrows[0][declared.name if declared.one_file else t.name] for t in declared.tables}
    answers = answers_of(declared, plan.asked, released.questions, named, pure=plan.cost.pure, rng=rng)
    records = {n: t.num_rows for n, t in arrows[0].items()}
    manifest = run.manifest(
        facts,
        settings=plan.settings.model_copy(update={"records": records}).stated(),
        n_records=sum(records.values()),
        seed=seed,
        seconds=time.perf_counter() - started,
    )
    return Release(
        copies=tuple(_returned(a, given, declared) for a in arrows),
        arrow_copies=arrows,
        manifest=manifest,
        schema=declared,
        measurements=released,
        answers=answers,
    )


def private_phase(
    real: RealForests,
    forest: Forest | None,
    plan: TreePlan,
    *,
    most: int | None,
    rng: Generator,
    ledger: Ledger | None = None,
    progress: Progress = silent,
) -> tuple[Run, TreeRelease, Iterator[Forest]]:
    """The private phase: reserves the price, and measures all that the plan asks for.

    Args:
        real: the bounded real tables.
        forest: the same where they are in memory, for questions across links; None: they are on disk.
        plan: of the run.
        most: roots that are synthesized at a time.
        rng: of the post-processing; what is measured of children rests on records synthesized before them.
        ledger: None is the ledger in DPSYN_HOME.
        progress: receives the stages.

    Returns:
        The run with its charges, what was released, and synthetic forests that are fitted to it, lazily.
    """
    spec, declared = plan.spec, plan.schema
    unit = Unit.of(SchemaUnit(neighbours=declared.unit.neighbours, identifier=declared.root_key, max_records=1))
    fit = TreeFit(
        plan.working,
        config=plan.config,
        budget=spec.budget,
        costs=plan.costs,
        rng=rng,
        public=plan.public,
        progress=progress,
    )
    run = open_run(
        declared.ledger_name if spec.dataset is None else spec.dataset,
        plan.cost,
        budget=spec.budget,
        unit=unit,
        method=METHOD,
        ledger=ledger,
    )
    fit.measure_root(real, run.gate)
    forests = fit.forests(spec.n_records, most=most)
    first, asked = next(forests), []
    if forest is not None:
        asked = measure_questions(forest, plan.working, plan.asked, plan.costs.questions, run.gate)
    fit.forget()
    released = TreeRelease(root=fit.root, views=tuple(fit.views), questions=tuple(asked))
    return run, released, chain([first], forests)


def copies_of(
    plan: TreePlan,
    released: TreeRelease,
    made: Iterator[Forest],
    *,
    most: int | None,
    rng: Generator,
    progress: Progress = silent,
) -> Iterator[Iterator[Forest]]:
    """The forests of each set of tables: the given ones, or of several each fitted to noise that is drawn again.

    Args:
        plan: of the run.
        released: all that was measured.
        made: forests that are fitted to the released values themselves.
        most: roots that are synthesized at a time.
        rng: of the post-processing.
        progress: receives the stages.
    """
    if plan.spec.tables == 1:
        yield made
        return
    for i in range(plan.spec.tables):
        fit = TreeFit(plan.working, config=plan.config, budget=plan.spec.budget, costs=plan.costs, rng=rng)
        fit.take(released.redrawn(pure=plan.cost.pure, rng=rng))
        n = round(released.total) if plan.spec.n_records is None else plan.spec.n_records
        yield fit.forests(max(n, 0), most=most)
        progress("making tables", i + 1, plan.spec.tables)


def _returned(arrows: Mapping[str, Any], given: Mapping[str, Any], schema: LinkedSchema) -> dict[str, Any]:
    """The tables in the kinds that were handed in."""
    alike = {name: given.get(name, given[schema.root.name]) for name in arrows}
    return {n: a if isinstance(alike[n], Batches) else from_arrow(a, like=alike[n]) for n, a in arrows.items()}


def frames_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The tables as pyarrow; what several names stand for is read once."""
    whole: dict[int, Any] = {}
    for name, table in given.items():
        if id(table) not in whole:
            with naming(name):
                whole[id(table)] = table.whole() if isinstance(table, Batches) else to_arrow(table)
    return {name: whole[id(table)] for name, table in given.items()}


def by_name(tables: Mapping[str, Any] | Any, schema: LinkedSchema) -> Mapping[str, Any]:
    """The given tables by their names: both of one file are that file. Raises TableError."""
    if isinstance(tables, Mapping):
        return tables
    if not schema.one_file:
        msg = f"the schema declares {len(schema.tables)} tables; give a dictionary of them by their names"
        raise TableError(msg)
    return {t.name: tables for t in schema.tables}
