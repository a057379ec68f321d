"""More linked tables from what a run released, at no budget: post-processing of a release file."""

from __future__ import annotations

import time

from numpy.random import Generator

from dpsyn_core.errors import MethodError, ReceiptError, SchemaError, SettingError
from dpsyn_core.privacy import Refit, untold
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.refits.refit import Changes, restated
from dpsyn_core.runs.release import Release
from dpsyn_core.runs.release_file import ReleaseFile
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.trees.chunks import put_together, roots_at_once
from dpsyn_core.runs.trees.decoder import check_linked_rules, decoded
from dpsyn_core.runs.trees.fit import TreeFit
from dpsyn_core.runs.trees.release import TreePlan, copies_of
from dpsyn_core.runs.trees.release_file import TreeFile, unpaid
from dpsyn_core.runs.trees.selection import check_condition, further_rules, kept_columns, with_tree_rules, without
from dpsyn_core.runs.verify.contradictions import contradictions
from dpsyn_core.runs.verify.receipts import manifest_faults
from dpsyn_core.schema import LinkedSchema, rules_from_data


def schema_of_refit(changes: Changes, released: LinkedSchema) -> LinkedSchema:
    """The schema of the synthetic tables, before columns are left out. Raises InputError for what does not fit.

    Args:
        changes: to the run. Of linked tables n_records are roots, a condition is met by every root, columns are named
            TABLE.COLUMN, and further rules are as `with_tree_rules` takes them.
        released: of the run.
    """
    check_condition(released, changes.where)
    if changes.where is not None and changes.n_records is not None:
        msg = "how many roots meet a condition follows from the released tables; leave the number of records out"
        raise SettingError(msg)
    gone, extended = kept_columns(released, changes.columns), with_tree_rules(released, changes.rules)
    lost = set() if gone is None else set().union(*gone.values())
    for rule in further_rules(released, changes.rules):
        absent = next((n for n in rule.columns if n.rpartition(".")[2] in lost), None)
        if absent is not None:
            msg = f"the rule '{str(rule)[:200]}' names '{absent}', which is left out; keep it, or drop the rule"
            raise SchemaError(msg)
    if changes.rules:
        check_linked_rules(extended)
    return extended


def looked_at(changes: Changes, released: LinkedSchema, dataset: str) -> tuple[str, ...]:
    """Why further rules undo the promise of the run: they were chosen by how many records break them."""
    rules = further_rules(released, changes.rules)
    return (*rules_from_data(rules), *untold(rules, released.ledger_name, dataset))


def check_tree(found: ReleaseFile, name: str) -> TreeFile:
    """The released tables, once schema, charges and noise agree. name: of the file. Raises ReceiptError."""
    tree: TreeFile = found.released
    faults = [*manifest_faults(found.manifest, found.document), *contradictions(found.manifest, schema=tree.schema)]
    defaults = {"records": {}, "copies": 1}  # what a file of released values does not say
    if {**found.manifest.settings, **defaults} != {**tree.settings.stated(), **defaults}:
        faults.append("its tables are said to be of other settings than those of its manifest")
    faults += unpaid(found.manifest, tree)
    if found.manifest.refit is not None:
        faults.append("its manifest is that of a refit, and the release of the run is needed")
    if faults:
        msg = f"no table is made of '{name}': {'; '.join(dict.fromkeys(faults))}"
        raise ReceiptError(msg)
    return tree


def refit_tree(
    found: ReleaseFile, name: str, changes: Changes, *, rng: Generator, progress: Progress = silent
) -> Release:
    """Makes further linked tables. Guarantee: that of the run, whose charges the manifest repeats; no record is read.

    Args:
        found: the release file of the run.
        name: of that file.
        changes: to the run; the seed of the run gives its tables again.
        rng: of the post-processing, by that seed.
        progress: receives the stages.

    Raises:
        ReceiptError: the parts of the file contradict each other.
        InputError: the changes do not fit the release.
    """
    started = time.perf_counter()
    tree, paid = check_tree(found, name), found.manifest
    settings = tree.settings
    if changes.method not in (None, settings.system):
        msg = f"'{settings.system}' measured these tables, and '{changes.method}' measures others; leave the method out"
        raise MethodError(msg)
    asked = settings.run()
    spec = RunSpec.of(
        epsilon=paid.epsilon,
        delta=paid.delta,
        n_records=changes.n_records,
        tables=changes.tables,
        **{**asked, "settings": {**asked["settings"], **changes.settings}},
    )
    described, gone = schema_of_refit(changes, tree.schema), kept_columns(tree.schema, changes.columns)
    plan = TreePlan.of(spec, tree.schema)
    most = roots_at_once(tree.schema, None)
    fit = TreeFit(plan.working, config=plan.config, budget=spec.budget, costs=plan.costs, rng=rng, progress=progress)
    fit.take(tree.released)
    forests = fit.forests(spec.n_records, most=most)
    copies = copies_of(plan, tree.released, forests, most=most, rng=rng, progress=progress)
    headers, where = tree.released.headers, changes.where
    arrows = tuple(
        without(
            put_together(
                (decoded(one, described, headers, rng=rng, measured=plan.working, where=where) for one in made),
                described,
            ),
            described,
            gone,
        )
        for made in copies
    )
    records = {n: t.num_rows for n, t in arrows[0].items()}
    made_of = Refit(
        release=found.sha256,
        by=None,
        method=settings.system,
        settings=plan.settings.model_copy(update={"records": records}).stated(),
        where=changes.where,
        columns=changes.columns,
        rules=tuple(dict(r) for r in changes.rules),
    )
    stated = restated(
        paid,
        made_of,
        looked_at(changes, tree.schema, paid.dataset),
        n_records=sum(records.values()),
        seed=changes.seed,
        seconds=time.perf_counter() - started,
    )
    return Release(copies=arrows, arrow_copies=arrows, manifest=stated, schema=described, measurements=tree.released)
