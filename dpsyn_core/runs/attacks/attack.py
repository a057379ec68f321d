"""The attack on the owner's table, alone and as a job.

An attack from start to end: the world, its shadow runs, and what they show.

Worker of an attack: `python -m dpsyn_core.runs.attacks.attack FOLDER`, a child process of the app.

Finds `job.json`, `schema.json` and the table, as a run does; leaves `attack.json` and `done.json`, or `error.json`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from dpsyn_core.errors import SettingError
from dpsyn_core.platforms import limit_resources
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.attacks import judge
from dpsyn_core.runs.attacks.child import AnyWorld, moves_of, outcomes
from dpsyn_core.runs.attacks.membership import learnt
from dpsyn_core.runs.attacks.result import AttackResult, AttackSpec
from dpsyn_core.runs.attacks.tree_world import attacked_table, build_trees, flat_domain
from dpsyn_core.runs.attacks.world import build
from dpsyn_core.runs.jobs.folder import DONE, JOB, SCHEMA, Reporter, take_table, take_tables, write_json
from dpsyn_core.runs.jobs.places import of_worker
from dpsyn_core.runs.jobs.worker import serve
from dpsyn_core.runs.trees.release import TreePlan
from dpsyn_core.schema import LinkedSchema, Schema
from dpsyn_core.tables import confine_process, to_arrow


def attack(table: Any, schema: Schema, spec: AttackSpec, *, progress: Progress = silent) -> AttackResult:
    """Attacks a system by shadow runs on the owner's table.

    Reads private data, and so does the result: it is for the owner only. Nothing is booked on the ledger, for the
    shadow runs' tables are thrown away.

    Args:
        table: the owner's: pandas, polars or pyarrow; of linked tables, these by name.
        schema: public metadata, of one table or of linked ones.
        spec: the run that is attacked, and how. With `workers` above 0 shadow runs take place in child processes.
        progress: receives how many shadow runs are done.

    Raises:
        InputError: budget, schema or table do not suit the system or the attack.
    """
    started = time.perf_counter()
    check_attack(schema, spec)
    progress("reading", 0, 1)
    rng = np.random.default_rng()
    world: AnyWorld
    if isinstance(schema, LinkedSchema):
        public: Schema = schema
        world = build_trees(table, TreePlan.of(spec, schema).working, spec, rng=rng)
    else:
        world, public = build(to_arrow(table), schema, spec, rng=rng)
    done = []
    progress("shadow runs", 0, spec.runs)
    for one in outcomes(world, public, spec):
        done.append(one)
        progress("shadow runs", len(done), spec.runs)
    train = spec.runs // 2
    coins = np.stack([o.coins for o in done])
    judged = coins[train:]
    more: dict[str, Any] = {}
    if spec.kind == "membership":
        progress("judging", 0, 1)
        scores = learnt(done, moves_of(world, public, spec), train)
        best, high, low = judge.cut(scores, coins, train)
        score = scores[best][train:]
        said_in, said_out = score >= high, (score <= low) & (score < high)
        guesses = int(said_in.sum() + said_out.sum())
        right = int((said_in & judged).sum() + (said_out & ~judged).sum())
        more["roc"] = judge.roc(score, judged)
    else:
        level = judge.sure_enough(done[:train])
        guesses = sum(int((o.sure >= level).sum()) for o in done[train:])
        right = sum(int(((o.sure >= level) & (o.coins[o.guessed] == o.said)).sum()) for o in done[train:])
        more["rates"] = judge.rates(done)
    return AttackResult(
        kind=spec.kind, method=spec.method, epsilon=spec.epsilon, delta=spec.delta, runs=spec.runs,
        records=world.usual, table_records=world.table_records, tested=_tested(schema, spec),
        seconds=round(time.perf_counter() - started, 1),
        **judge.bounds(judged.size, guesses, right, spec.epsilon, spec.delta), **more,
    )  # fmt: skip


def check_attack(schema: Schema, spec: AttackSpec) -> None:
    """Raises InputError where the attacked run would be refused, or the attack does not fit the schema."""
    names = attacked_columns(schema, spec)
    if spec.secret is not None and spec.secret not in names:
        msg = f"the schema has no column '{spec.secret}' to be guessed; name one of {', '.join(names)}"
        raise SettingError(msg)
    if spec.kind in ("linkage", "inference") and len(names) < 2:
        msg = f"the schema has one column, and {spec.kind} needs at least two; use the kind 'membership'"
        raise SettingError(msg)
    if spec.public_table is not None:
        raise SettingError(NO_PUBLIC_TABLE)
    spec.budget.check_spendable()
    if not schema.links:
        spec.config.calibrate(spec.task(schema))


def attacked_columns(schema: Schema, spec: AttackSpec) -> tuple[str, ...]:
    """The columns that an attack may be about. Raises InputError where the run on linked tables would be refused."""
    if not isinstance(schema, LinkedSchema):
        if spec.about is not None:
            msg = f"the schema describes one table, and '{spec.about[:80]}' is named among several; leave that out"
            raise SettingError(msg)
        return schema.domain().names
    plan = TreePlan.of(spec.model_copy(update={"public_table": None}), schema)  # refused apart
    working, tables = plan.working, [t.name for t in schema.tables]
    if spec.about is not None and spec.about not in tables:
        msg = f"the schema has no table '{spec.about[:80]}' to be attacked; name one of {', '.join(tables)}"
        raise SettingError(msg)
    return flat_domain(working, attacked_table(spec, working)).names


def _tested(schema: Schema, spec: AttackSpec) -> str:
    """Of linked tables, what a coin moves and what was looked at. Empty for one table."""
    if not isinstance(schema, LinkedSchema):
        return ""
    moves = f"A coin moves one record of '{schema.root.name}' with all that hangs on it. "
    if spec.kind != "membership":
        about = attacked_table(spec, schema)
        return f"{moves}Attacked were records of '{about}' with the columns of what they hang on."
    return (
        f"{moves}Looked at were the released tables of roots and of children with their parents, and these in the "
        "synthetic tables; those of consecutive siblings and of questions were not."
    )


NO_PUBLIC_TABLE = "the run learnt from a public table, and shadow runs learn from none; attack a run without one"
ATTACK_RESULT = "attack.json"
FAULT = "The attack stopped because of a fault in the program; nothing was booked on the ledger. Start it again."


def run(folder: Path) -> None:
    """Attacks what the folder asks for."""
    started = time.time()
    report = Reporter(folder)
    report("loading the engine", 0, 1)
    from dpsyn_core.runs.attacks.result import AttackSpec
    from dpsyn_core.schema import Schema

    spec = AttackSpec.model_validate_json((folder / JOB).read_text("utf-8"))
    schema = Schema.load(folder / SCHEMA)
    confine_process(of_worker())
    limit_resources(spec.memory_mb, spec.seconds)
    report("reading the table", 0, 1)
    table = (take_tables if spec.linked else take_table)(folder, spec, schema)
    result = attack(table, schema, spec, progress=report)
    write_json(folder / ATTACK_RESULT, result.model_dump(mode="json"))
    write_json(folder / DONE, {"seconds": time.time() - started})


def main(arguments: list[str] | None = None) -> int:
    """Runs one attack. Exit status 0, 2 for what the person got wrong, 1 for a fault of ours (as `dpsyn`)."""
    return serve(run, arguments, small="the attack needs more memory than it may take; use fewer records", fault=FAULT)


if __name__ == "__main__":
    sys.exit(main())
