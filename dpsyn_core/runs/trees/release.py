"""One release of linked tables: bound, measure through the gate, make roots and children, state it in a manifest."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from dpsyn_core.errors import MethodError, SizeError, TableError
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.measure.charges import check_widest
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.sources.choice import vouched
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.questions.linked import LinkedQuestions
from dpsyn_core.runs.measurement import post_processing_generator
from dpsyn_core.runs.open import open_run, public_facts
from dpsyn_core.runs.spec import check_records
from dpsyn_core.runs.trees.allowed_counts import only_permitted, permitted, without_forbidden
from dpsyn_core.runs.trees.answers import LinkedAnswer, answers_of, asked_needs, measure_questions
from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.chunks import parts_of, put_together, roots_at_once
from dpsyn_core.runs.trees.decoder import check_linked_rules, decoded
from dpsyn_core.runs.trees.export import places_of, staged_linked
from dpsyn_core.runs.trees.forest import Forest, shapes_of
from dpsyn_core.runs.trees.measurement import SHARES, LinkedShares, Standing, measure_root, measure_view
from dpsyn_core.runs.trees.pair_choice import ViewEvidence
from dpsyn_core.runs.trees.real_tables import RealForests, root_domain, stored_forests
from dpsyn_core.runs.trees.stages import Columns, Stage, View, context_columns, in_root, stages_of
from dpsyn_core.runs.trees.synthesis import empty_forest, make_stage, with_grandchildren
from dpsyn_core.runs.writer import Places, Staged, write_release
from dpsyn_core.schema.document import SchemaUnit
from dpsyn_core.schema.linked import METHOD, LinkedSchema, LinkedSettings
from dpsyn_core.schema.rules.linked_spans import measured_schema
from dpsyn_core.systems.base import Task
from dpsyn_core.tables.batches import Batches
from dpsyn_core.tables.catalog import naming
from dpsyn_core.tables.frames import from_arrow, to_arrow

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedRelease:
    """What leaves the engine: synthetic tables by name, with fresh keys, and the manifest of all of them.

    tables: of the kinds that were handed in. arrows: the same as pyarrow tables. answers: of declared questions, with
    intervals.
    """

    tables: Mapping[str, Any]
    arrows: Mapping[str, Any]
    manifest: Manifest
    schema: LinkedSchema
    answers: tuple[LinkedAnswer, ...] = ()

    def __repr__(self) -> str:
        """One line: what it is, and no arrays."""
        sizes = ", ".join(f"{t.num_rows:,} of {name}" for name, t in self.arrows.items())
        m = self.manifest
        private = "" if m.private else ", NOT PRIVATE"
        return f"LinkedRelease({sizes}; epsilon {m.epsilon:g}, delta {m.delta:g}{private}; see .tables and .write())"

    def write(
        self, out: str | Path, manifest: str | Path | None = None, *, key: Ed25519PrivateKey | None = None
    ) -> Manifest:
        """Writes a folder of CSV files, or one file (.xlsx, .sqlite, .duckdb), and the manifest; `key` signs it.

        Raises OutputError.
        """
        return write_release(self, places_of(out, self.schema, manifest=manifest), key=key)

    @contextmanager
    def staged(self, places: Places, *, progress: Progress = silent) -> Iterator[Staged]:
        """See `Writable.staged`."""
        progress("writing", 0, 1)
        with staged_linked(self.arrows, self.schema, places.outs) as digests:
            yield Staged(manifest=self.manifest, digests=digests)


def synthesize_linked(
    tables: Mapping[str, Any] | Any,
    schema: LinkedSchema | Mapping[str, Any] | str | Path,
    *,
    epsilon: float,
    delta: float,
    rng: Generator | int | None,
    method: str = METHOD,
    n_records: int | None = None,
    dataset: str | None = None,
    ledger: Ledger | None = None,
    strict: bool = False,
    effort: float = 1.0,
    questions: object = None,
    memory: int | None = None,
    query_vouched: bool = False,
    shares: LinkedShares = SHARES,
    progress: Progress = silent,
) -> LinkedRelease:
    """Makes differentially private synthetic linked tables.

    Guarantee: (epsilon, delta)-DP for one root with all that hangs on it, more or less, or exchanged where the schema
    says replace (docs/proofs/linked.md), provided that the schema is public knowledge; otherwise the manifest says NOT
    PRIVATE.

    Args:
        tables: by name: pandas, polars or pyarrow; of tables of one file, that one. Tables as `tables.read.open_table`
            opens them are read part by part and counted from disk where they do not fit the memory.
        schema: of version 2: a schema, its document as a dictionary, or the path of its file.
        epsilon: privacy budget, above 0.
        delta: 0 (pure DP) or in (0, 1).
        rng: seed or generator of the post-processing; None draws a fresh seed, which the manifest records.
        method: the only one that linked tables have; any other is refused in a sentence.
        n_records: roots to make; None takes the released number.
        dataset: name on the ledger; None takes the schema's.
        ledger: None is the ledger in DPSYN_HOME.
        strict: refuse records that have no place instead of leaving them out: an exact answer, for the owner only.
        effort: proposals to a cell, relative to the usual number.
        questions: across links, each answered with an interval: `LinkedQuestions`, a list of documents, or a file.
        memory: bytes that the run may use; None: half of what the machine has, and 8 GB where it decides how many
            roots are made at a time.
        query_vouched: that the query behind a table reads each record by itself is the owner's word; what was opened by
            `tables.read.open_table` says so itself. The manifest states it.
        shares: how the budget is divided.
        progress: told the stages.

    Raises:
        InputError: before anything is charged, when budget, schema or tables do not fit.
    """
    declared: LinkedSchema = LinkedSchema.given(schema)
    generator, seed = post_processing_generator(rng)
    budget = Budget(epsilon=epsilon, delta=delta)
    check_records(n_records)
    if method != METHOD:
        msg = (
            f"the method is '{method[:80]}', which makes single tables: it knows no keys, and would charge each table "
            f"for all records of a root. Linked tables have one method, '{METHOD}'; leave the method out"
        )
        raise MethodError(msg)
    if not 0.1 <= effort <= 100:
        msg = f"the effort is {effort}; it must lie between 0.1 and 100"
        raise MethodError(msg)
    cost = budget.gaussian() if delta else budget.pure()
    asked = declared_questions(questions)
    working = measured_schema(declared, asked.document())
    needs = asked_needs(working, asked)
    plan = costs_of(working, cost, shares, [float(t.question.ask.weight) for t, _ in needs])
    check_drawable(working, plan)
    for (of_question, _), own in zip(needs, plan.questions, strict=True):
        check_widest(_noise(own, declared.unit.counting(of_question.unit)))
    check_linked_rules(declared)
    progress("encoding", 0, 1)
    given = by_name(tables, declared)
    word = query_vouched or any(map(vouched, given.values()))
    facts = public_facts(declared, dataset=dataset, query_vouched=word, reasons=(), public_table=None)
    parts = parts_of(given, declared, memory)
    if parts is not None and asked.questions:
        msg = (
            "the tables are counted from disk, since they do not fit the memory that may be used (for the owner only), "
            "and questions across links are answered of tables in memory: allow more, or leave the questions out"
        )
        raise SizeError(msg)
    unit = Unit.of(SchemaUnit(neighbours=declared.unit.neighbours, identifier=declared.root_key, max_records=1))
    with ExitStack() as stack:
        if parts is None:
            frames = _frames(given)
            headers = {name: tuple(frame.column_names) for name, frame in frames.items()}
            forest, _ = bounded(working, frames, strict=strict)
            real = RealForests.whole(forest, working)
            del frames
        else:
            headers = {name: batches.columns for name, batches in given.items()}
            real = stack.enter_context(stored_forests(working, given, parts=parts, strict=strict))
        progress("encoding", 1, 1)  # how many parts there are tells the number of roots
        run = open_run(
            declared.ledger_name if dataset is None else dataset, cost, budget=budget, unit=unit, method=METHOD,
            ledger=ledger,
        )  # fmt: skip
        forests = fit_forests(
            real, working, gate=run.gate, costs=plan, budget=budget, n_roots=n_records, effort=effort, rng=generator,
            most=roots_at_once(declared, memory), progress=progress,
        )  # fmt: skip
        first = next(forests)
        released = [] if parts is not None else measure_questions(forest, working, asked, plan.questions, run.gate)
    forest = real = None  # type: ignore[assignment]
    started = time.perf_counter()  # how long counting took would tell the number of records
    made = (decoded(one, declared, headers, rng=generator, measured=working) for one in chain([first], forests))
    arrows = put_together(made, declared)
    named = {t.name: arrows[declared.name if declared.one_file else t.name] for t in declared.tables}
    answers = answers_of(declared, asked, released, named, pure=cost.pure, rng=generator)
    manifest = run.manifest(
        facts,
        settings=LinkedSettings(
            effort=effort, records={n: t.num_rows for n, t in arrows.items()}, questions=tuple(asked.document())
        ).model_dump(mode="json"),
        n_records=sum(t.num_rows for t in arrows.values()),
        seed=seed,
        seconds=time.perf_counter() - started,
    )
    alike = {name: given.get(name, given[declared.root.name]) for name in arrows}
    returned = {n: a if isinstance(alike[n], Batches) else from_arrow(a, like=alike[n]) for n, a in arrows.items()}
    return LinkedRelease(tables=returned, arrows=arrows, manifest=manifest, schema=declared, answers=answers)


def _frames(given: Mapping[str, Any]) -> dict[str, Any]:
    """The tables as pyarrow; what several names stand for is read once."""
    whole: dict[int, Any] = {}
    for name, table in given.items():
        if id(table) not in whole:
            with naming(name):
                whole[id(table)] = table.whole() if isinstance(table, Batches) else to_arrow(table)
    return {name: whole[id(table)] for name, table in given.items()}


def declared_questions(questions: object) -> LinkedQuestions:
    """Questions as a document, from one, a list of documents, or the path of a file. Raises QuestionError."""
    if questions is None:
        return LinkedQuestions.of([])
    return LinkedQuestions.load(questions) if isinstance(questions, str | Path) else LinkedQuestions.of(questions)


@dataclass(frozen=True, kw_only=True, slots=True)
class Costs:
    """What the root, each stage, the siblings of each stage and each question may spend."""

    root: Cost
    stages: tuple[Cost, ...]
    siblings: tuple[Cost | None, ...]
    questions: tuple[Cost, ...] = ()


def costs_of(schema: LinkedSchema, cost: Cost, shares: LinkedShares, questions: Sequence[float] = ()) -> Costs:
    """Divides the cost of a run: public facts alone. questions: how important each is."""
    stages = stages_of(schema)
    weights = [shares.root]
    for stage in stages:
        weights += [shares.rest if stage.single is None else shares.single]
        weights += [shares.siblings] if stage.siblings is not None else []
    weights += [shares.questions * q / sum(questions) for q in questions]
    parts = iter(cost.split([w**0.5 if cost.pure else w for w in weights]))
    root, each, siblings = next(parts), [], []
    for stage in stages:
        each.append(next(parts))
        siblings.append(next(parts) if stage.siblings is not None else None)
    return Costs(root=root, stages=tuple(each), siblings=tuple(siblings), questions=tuple(parts))


LEAST_TABLE = 1e3  # noise of the least table of a view, at most, over that of one that got all (convention)
LEAST_SCORE = 10.0  # the same of scores, which get 2 % of what a view gets at least


def check_drawable(schema: LinkedSchema, costs: Costs) -> None:
    """Refuses, before anything is charged, a budget whose noise the samplers could not draw. Raises BudgetError."""
    from dpsyn_core.measure.select import GRID

    for stage, cost, siblings in zip(stages_of(schema), costs.stages, costs.siblings, strict=True):
        for view, own in ((stage.view, cost), (stage.siblings, siblings)):
            if view is not None and own is not None:
                number = max(len(view.pairs), 1)
                scores = GRID * (number if own.pure else number**0.5) * LEAST_SCORE
                check_widest(_noise(own, schema.unit.counting(view.unit)) * max(scores, LEAST_TABLE))


def _noise(cost: Cost, unit: Unit) -> float:
    """Scale of the noise of a view that got one table, in weights."""
    return cost.scale(unit.l1()) if cost.pure else cost.sigma(unit.l2())


def fit_forest(forest: Forest, schema: LinkedSchema, **how: Any) -> Forest:
    """One synthetic forest of a real one in memory; see `fit_forests`."""
    return next(fit_forests(RealForests.whole(forest, schema), schema, **how))


def fit_forests(
    real: RealForests,
    schema: LinkedSchema,
    *,
    gate: Gate,
    costs: Costs,
    budget: Budget,
    n_roots: int | None,
    effort: float,
    rng: Generator,
    most: int | None = None,
    progress: Progress = silent,
) -> Iterator[Forest]:
    """Measures and makes in turn: roots, then the children stage by stage, each on what was made before.

    What is made before a measurement tells only what is expected of it; it is computed from released values. Where
    more than `most` roots are to be made, further forests follow, of the same released values.
    """
    task = Task.of(schema[schema.links[0].child].columns, budget)  # type: ignore[arg-type]
    domain = root_domain(schema)
    system, measured = measure_root(real.roots, domain, cost=costs.root, task=task, gate=gate)
    progress("measuring the root", 1, 1)
    plain = len(schema.root.coded)
    from_root = schema.below(schema.root.name)
    shapes = [(n, shapes_of(schema)[i], schema.links[i]) for n, i in zip(domain.names[plain:], from_root, strict=True)]
    fits = [permitted(schema, link, shape) for _, shape, link in shapes]
    for (name, _, _), own in zip(shapes, fits, strict=True):
        measured = measured if own.all() else without_forbidden(measured, name, own)
    total = system.view(measured).total
    released: list[tuple[ViewEvidence, ViewEvidence | None]] = []  # of each stage, once the first forest was made
    for wanted in _parted(max(round(total), 0) if n_roots is None else n_roots, most):
        codes = system.synthesize(measured, wanted, rng=rng, progress=progress)
        numbers = [
            only_permitted(c.astype(np.int64), own, shape.numbers, rng)
            for c, own, (_, shape, _) in zip(codes[plain:], fits, shapes, strict=True)
        ]
        made = empty_forest(codes[:plain], numbers, schema)
        scale = total / max(made.n_roots, 1)
        counted, first = set(from_root), not released
        for place, (stage, cost, for_siblings) in enumerate(
            zip(stages_of(schema), costs.stages, costs.siblings, strict=True)
        ):
            if stage.link not in counted:
                made = with_grandchildren(made, stage.link, schema, rng)
                counted.add(stage.link)
            if first:
                evidence = _measured(real, made, stage, schema, scale, cost, task, gate)
                pairs = _siblings_measured(real, made, stage, evidence, scale, for_siblings, task, gate)
                released.append((evidence, pairs))
                progress("measuring children", 1, 1)
            make_stage(made, stage, schema, *released[place], effort=effort, rng=rng, progress=progress)
        yield made


def _parted(number: int, most: int | None) -> list[int]:
    """So many roots in as few nearly equal parts as hold at most `most` each."""
    parts = 1 if most is None else max(-(-number // most), 1)
    return [number * (i + 1) // parts - number * i // parts for i in range(parts)]


def _measured(
    real: RealForests,
    made: Forest,
    stage: Stage,
    schema: LinkedSchema,
    scale: float,
    cost: Cost,
    task: Task,
    gate: Gate,
) -> ViewEvidence:
    """What is released of a stage; what its context looks like follows from what was made."""
    standing = context_columns(made, stage, schema)
    weights = scale * stage.view.unit / in_root(made, stage)
    known = _known(stage.view, standing, weights, _noise(cost, gate.counting(stage.view.unit).unit))
    return measure_view(
        stage.view, real.children(stage), known, total=float(weights.sum()), cost=cost, task=task,
        gate=gate, standing=Standing(columns=standing, weights=weights),
    )  # fmt: skip


def _known(view: View, columns: Columns, weights: Any, sigma: float) -> list[Measurement]:
    return [
        Measurement(
            attributes=(c.attribute.name,),
            values=np.bincount(codes, weights, minlength=c.attribute.size).astype(np.float64),
            sigma=sigma,
        )
        for c, codes in zip(view.columns, columns, strict=False)
    ]


def _siblings_measured(
    real: RealForests, made: Forest, stage: Stage, evidence: ViewEvidence, scale: float, cost: Cost | None, task: Task,
    gate: Gate,
) -> ViewEvidence | None:  # fmt: skip
    """What is released of consecutive siblings; what each looks like by itself follows from the stage."""
    view, counter = stage.siblings, real.siblings(stage)
    if view is None or counter is None or cost is None:
        return None
    several = made.root_of(stage.link)[made.children[stage.link].counts > 1]
    total = float(len(np.unique(several))) * scale * view.unit
    alone = {n: p / max(p.sum(), 1e-300) * total for n, p in zip(evidence.domain.names, evidence.one_ways, strict=True)}
    sigma = _noise(cost, gate.counting(view.unit).unit)
    known = [
        Measurement(attributes=(c.attribute.name,), values=alone[c.attribute.name.removesuffix(" before")], sigma=sigma)
        for c in view.columns
        if c.kind in ("before", "own")
    ]
    return measure_view(view, counter, known, total=total, cost=cost, task=task, gate=gate)


def by_name(tables: Mapping[str, Any] | Any, schema: LinkedSchema) -> Mapping[str, Any]:
    """The given tables by their names: both of one file are that file. Raises TableError."""
    if isinstance(tables, Mapping):
        return tables
    if not schema.one_file:
        msg = f"the schema declares {len(schema.tables)} tables; give a dictionary of them by their names"
        raise TableError(msg)
    return {t.name: tables for t in schema.tables}
