"""Contradictions: what a manifest says that its schema, its released marginals, its method or its charges deny.

That a run was private cannot be proved by a manifest: whoever edits every place in the same way is believed. What is
at hand has to agree, though, and whoever edits one place has to know and to edit all others. docs/manifest.md lists for
each field what it is compared with.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from dpsyn_core.errors import DPSynError, SettingError
from dpsyn_core.estimate import ReleasedFile, ReleasedTables
from dpsyn_core.measure import EXCEPTIONS, MEANS, averaged, item_rows, items_text
from dpsyn_core.privacy import Budget, ChargeRecord, Manifest, Unit
from dpsyn_core.questions import Questions
from dpsyn_core.runs.stated_rules import BOUGHT, bought_rules, stated_rules
from dpsyn_core.runs.trees.flat_table import units_of
from dpsyn_core.runs.trees.stages import unit_of
from dpsyn_core.runs.verify.stated_noise import ROUNDING, of_linked_charges, underpaid
from dpsyn_core.schema import METHOD as LINKED
from dpsyn_core.schema import LinkedSettings, Schema
from dpsyn_core.systems import MethodConfig, PrivBasisSettings, PublicTable, RunPlan, Task, plan_of, registry
from dpsyn_core.version import __version__

_UNIT_OF = ("gaussian", "geometric")
_MOST = 3  # sentences of one kind: a wrong unit is wrong in every charge
ITEMSETS = "privbasis"  # the method of `dpsyn itemsets`: no system that makes records, and its "schema" a list of items
MOST_PLANNED = 150  # columns of schemas for which plans are made: pairs of more take seconds, of each size below
_SIZES = (1.0, 1e3, 1e6, 1e9)  # records of tables for which plans of a private number of records are tried


def contradictions(
    found: Manifest, *, schema: Schema | None = None, measurements: ReleasedFile | None = None
) -> list[str]:
    """Sentences, each one contradiction; none where all that is at hand agrees.

    Args:
        found: a manifest that adds up (`Manifest.load`).
        schema: of the run; None where nobody has it.
        measurements: the released marginals; None where nobody has them.
    """
    config = _config(found)
    out = _of_charges(found, config)
    if found.refit is not None and found.refit.by is not None:
        if found.private or found.charges:
            out.append("the manifest states a promise of ours, and its tables are those of others")
        config = PrivBasisSettings() if isinstance(config, MethodConfig) else config  # no run of it charged anything
    if isinstance(config, str):
        out.append(config)
    elif isinstance(config, MethodConfig) and not (schema is not None and schema.links):
        out += _of_method(found, config, schema)
    if bool(found.hanging) != (found.method == LINKED):
        out.append("what hangs on an individual belongs to linked tables alone, and each manifest of them states it")
    if schema is not None and schema.links:
        out += [*_of_linked_schema(found, schema), *of_linked_charges(found, schema)[:_MOST]]
    elif schema is not None:
        out += _of_schema(found, schema)
    out += _of_rules(found, schema, measurements)
    if measurements is not None:
        out += underpaid(found.charges, Unit.of(found), measurements.measurements)[:_MOST]
    return out


def schema_fault(found: Manifest, schema: Schema) -> str:
    """Why a schema is not the one that the manifest names; empty where it is."""
    text = schema.dumps()
    if found.method == ITEMSETS and not schema.links:
        names = schema.domain().names
        try:
            text = items_text([names[i] for i in item_rows(schema)])
        except SettingError:
            text = ""  # it has no items, and there is no release of none
    return "" if _hash(text) == found.schema_hash else "the schema is not the one that the release was made with"


def items_fault(found: Manifest, items: Sequence[str]) -> str:
    """Why a list of items is not the one of a release of itemsets; empty where it is."""
    same = found.method == ITEMSETS and _hash(items_text(items)) == found.schema_hash
    return "" if same else "the items are not those that the release was made with"


def _units_of_questions(found: Manifest, config: BaseModel | str) -> set[int]:
    """What the records of one individual weigh together in the tables of questions of linked tables."""
    try:
        asked = Questions.of(list(config.questions)) if isinstance(config, LinkedSettings) else None
    except DPSynError:  # `of_linked_charges` says so
        return set()
    most = {h.table: h.max_children for h in found.hanging}
    return set() if asked is None else {u for q in asked.across for u in units_of(q, most.get(q.about, 1))}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _config(found: Manifest) -> BaseModel | str:
    """The settings of the method, or why there can be none."""
    try:
        if found.method == ITEMSETS:
            return PrivBasisSettings.model_validate(found.settings)
        if found.method == LINKED:
            return LinkedSettings.model_validate(found.settings)
        return registry.configure(found.method, found.settings)
    except (DPSynError, ValidationError) as error:
        reason = "its settings are not those of the method" if isinstance(error, ValidationError) else str(error)
        return f"the manifest names a method that this version cannot have run: {reason}"


def _of_charges(found: Manifest, config: BaseModel | str) -> list[str]:
    """What the charges say of the promise and the unit."""
    out = []
    unit = Unit.of(found)
    units = {1}  # of linked tables, each view has its own, and so has each table of a question
    units |= {u for h in found.hanging for u in (unit_of(h.max_children), h.max_children)}
    units |= _units_of_questions(found, config)
    meant = (unit.max_records, unit.neighbours == "replace")
    for c in found.charges:
        if _beyond(c):
            out.append(f"the charge '{c.name}' states numbers that the mechanism '{c.mechanism}' does not have")
        elif c.mechanism == "sampled-gaussian" and (c.records, c.exchanged) != meant:
            out.append(f"the charge '{c.name}' is accounted for another unit of privacy than the manifest states")
        elif (c.kind in ("total", "question", MEANS) or (c.kind or "").endswith("-way")) and c.mechanism in _UNIT_OF:
            needed = (unit.l2() if c.mechanism == "gaussian" else float(unit.l1())) * (averaged(c.name) or 1)
            if not any(math.isclose(c.sensitivity, needed * u, rel_tol=ROUNDING) for u in units):
                out.append(
                    f"the charge '{c.name}' has the sensitivity {c.sensitivity:g}, and under the unit of privacy that "
                    f"the manifest states it would be {needed:g}"
                )
        elif c.mechanism == "dirichlet" and c.sensitivity != unit.max_records:
            out.append(f"the charge '{c.name}' is accounted for another number of records per individual")
    out += [f"the bought charge '{c.name}' states a cost that its noise does not have" for c in found.bought if c.wrong]
    parts = () if found.digests is None else found.digests.parts
    total = sum(p.n_records for p in parts)
    if parts and total != found.n_records:
        out.append(f"the manifest states {found.n_records} records, and its parts have {total}")
    return out[:_MOST]


def _beyond(c: ChargeRecord) -> bool:
    """Whether a charge states numbers of other mechanisms, which nobody composes: it would look like what it is not."""
    if c.sigma is not None and c.scale is not None:
        return True
    if c.mechanism == "sampled-gaussian":
        return c.epsilon > 0
    plain = (c.sampling, c.steps, c.records, c.exchanged) == (1.0, 1, 1, False)
    fails = c.mechanism == "partition-selection"  # the only other one with a failure of its own
    return not plain or (c.delta > 0 and not fails) or (c.epsilon > 0 and c.mechanism == "gaussian")


def _of_method(found: Manifest, config: MethodConfig, schema: Schema | None) -> list[str]:
    """What the method denies: whether it adds noise at all, whom it protects, and what it charges."""
    out = []
    if config.unprotected:
        if found.private:
            out.append(f"the manifest calls the run private, and {config.reasons[0]}")
        if found.charges:
            out.append(f"the manifest lists charges, and {config.reasons[0]}")
        return out
    if not found.charges:
        return [f"the method '{found.method}' adds noise, and the manifest lists no charge of it"]
    try:
        asked = None if found.questions is None else Questions.of(found.questions.document)
        if asked is not None and not config.takes_questions:
            return [f"the method '{found.method}' takes no questions, and the manifest lists some"]
        budget = Budget(epsilon=found.epsilon, delta=found.delta)
        config.check_promise(Unit.of(found), budget)
        if schema is None or config.missing() or found.versions.get("dpsyn-studio") != __version__:
            return []  # what another version would charge is not known here
        share = 0.0 if found.questions is None else found.questions.share
        task = Task.of(schema, budget, questions=asked, questions_share=share, measures=config.measures)
        used = found.public_table
        if used is not None and used.candidates:
            if found.method not in {c.partition(":")[0] for c in used.candidates}:
                return [f"the manifest lists candidates of a choice, and '{found.method}' is none of them"]
        elif used is not None:  # the charges do not depend on what is in it
            task = replace(
                task, public=PublicTable.unread(task.domain.project(n for n in used.columns if n in task.domain.names))
            )
        MethodConfig.check(config, task)  # what a system adds to it asks for its library on this machine
        if len(task.domain) > MOST_PLANNED:
            return []
        system = config.build(task)
        planned = plan_of(system, task, n_records=float(found.n_records))
        if planned.charges:
            return _of_planned(found, [ChargeRecord.of(c) for c in planned.charges])
        others = [] if task.n_public is not None else [plan_of(system, task, n_records=n) for n in _SIZES]
        return _of_plans(found, [planned, *others], columns=len(task.domain))
    except DPSynError as error:
        return [f"the run could not have been made as the manifest states it: {error}"]


def _of_plans(found: Manifest, plans: Sequence[RunPlan], *, columns: int) -> list[str]:
    """Holds the charges against the steps that the method states for this schema, these settings and this budget.

    plans: for the numbers of records that the private table may have had. columns: of the table.
    """
    if all(p.steps == plans[0].steps for p in plans):
        return _of_steps(found, plans[0])
    kinds = {s.kind for p in plans for s in p.steps} - {"chosen", "listed"}  # these two hold tables of many kinds
    fewest = {k: min(sum(s.parts[0] for s in p.steps if s.kind == k) for p in plans) for k in kinds}
    listed = Counter(c.kind for c in found.charges)
    if "1-way" in fewest:  # where nothing depends, each is charged twice: a column that is missing shows in the names
        fewest["1-way"] = min(fewest["1-way"], columns)
        listed["1-way"] = len({c.name for c in found.charges if c.kind == "1-way"})
    return [_too_few(k, n, listed[k]) for k, n in sorted(fewest.items()) if listed[k] < n][:_MOST]


def _too_few(kind: str, fewest: int, listed: int) -> str:
    return f"the method charges for '{kind}' {fewest} times or more, and the manifest {listed} times"


def _of_steps(found: Manifest, made: RunPlan) -> list[str]:
    """As `_of_plans`, for a method that states its steps, which do not depend on the number of records."""
    taken: list[list[ChargeRecord]] = [[] for _ in made.steps]
    for c in found.charges:
        open_to = (i for i, s in enumerate(made.steps) if s.holds(str(c.kind)) and len(taken[i]) < s.parts[1])
        charge = next(open_to, None)
        if charge is not None:
            taken[charge].append(c)
        elif not any(s.about for s in made.steps):
            return [f"the manifest lists '{c.name}', and the method charges nothing of the kind, or not so often"]
    out = []
    for step, mine in zip(made.steps, taken, strict=True):
        if step.about:
            continue  # a noisy total decides there
        if len(mine) < step.parts[0]:
            out.append(_too_few(step.kind, step.parts[0], len(mine)))
        least, most = step.sigma or (0.0, math.inf)
        off = [c for c in mine if not least * (1 - ROUNDING) <= c.charge().scale <= most * (1 + ROUNDING)]
        out += [f"the charge '{c.name}' states noise that the method does not add at this budget" for c in off]
    return out[:_MOST]


def _of_planned(found: Manifest, planned: Sequence[ChargeRecord]) -> list[str]:
    """Holds the charges against those of a method that charges the same on every table, one by one."""

    def shape(c: ChargeRecord) -> tuple[str, ...]:
        return c.name, str(c.kind), c.mechanism, str(c.cells)

    here, there = (Counter(shape(c) for c in some) for some in (found.charges, planned))
    if there - here:
        return [f"the method charges for '{next(iter(there - here))[0]}', and the manifest does not list that charge"]
    if here - there:
        return [f"the manifest lists the charge '{next(iter(here - there))[0]}', which the method does not make"]
    mine, others = (sorted(some, key=lambda c: (*shape(c), c.charge().scale)) for some in (found.charges, planned))
    off = [
        c
        for c, p in zip(mine, others, strict=True)
        if not math.isclose(c.charge().scale, p.charge().scale, rel_tol=ROUNDING)
        or not math.isclose(c.sensitivity, p.sensitivity, rel_tol=ROUNDING)
    ]
    return [f"the charge '{c.name}' states noise that the method does not add at this budget" for c in off][:_MOST]


def _of_schema(found: Manifest, schema: Schema) -> list[str]:
    """What the schema denies: that nothing was read from the data, whom the run protects, what was bought."""
    out = []
    if found.private and schema.reasons:
        out.append(f"the manifest calls the run private, and its schema says that {schema.reasons[0]}")
    if Unit.of(schema.unit) != Unit.of(found):
        out.append("the manifest states another unit of privacy than its schema (neighbours, max_records, identifier)")
    if found.method != ITEMSETS and schema.name != found.schema_name:
        out.append(f"the manifest calls its schema '{found.schema_name}', and it is '{schema.name}'")
    if Counter(found.bought) != Counter(ChargeRecord.of(b.charge()) for b in schema.bought):
        out.append("the manifest lists other charges for what was bought than its schema")
    return out


def _of_rules(found: Manifest, schema: Schema | None, measurements: ReleasedFile | None) -> list[str]:
    """Holds the stated rules against the schema, and those that were bought against what was charged and released."""
    if found.rules is None:  # of a version before they were stated
        return []
    bought = tuple(r for r in found.rules if r.vouched == BOUGHT)
    if bought and not any(c.name == EXCEPTIONS for c in found.charges):
        return [f"the manifest states that '{bought[0].rule[:200]}' was bought, and no charge paid for it"]
    held = []
    if schema is not None:
        given = () if found.method == ITEMSETS else stated_rules(schema)
        held.append(("schema", tuple(r for r in found.rules if r.vouched != BOUGHT), given))
    if schema is not None and measurements is not None and isinstance(measurements.measurements, ReleasedTables):
        held.append(("released marginals", bought, bought_rules(measurements.measurements, schema)))
    for where, stated, given in held:
        for r in (*stated, *given):
            if (r in stated) != (r in given):
                there = f"the rule '{r.rule[:200]}' ({r.vouched})"
                if r in stated:
                    return [f"the manifest states {there}, and its {where} does not"]
                return [f"the {where} has {there}, and the manifest does not state it"]
    return []


def _of_linked_schema(found: Manifest, schema: Any) -> list[str]:
    """As `_of_schema`, for linked tables."""
    out = []
    if found.private and schema.reasons:
        out.append(f"the manifest calls the run private, and its schema says that {schema.reasons[0]}")
    unit = (schema.root_key, 1, schema.unit.neighbours)
    if found.hanging != schema.hanging or (found.identifier, found.max_records, found.neighbours) != unit:
        out.append("the manifest states another unit of privacy than its schema (key of the root, links, max_children)")
    if schema.name != found.schema_name:
        out.append(f"the manifest calls its schema '{found.schema_name}', and it is '{schema.name}'")
    return out
