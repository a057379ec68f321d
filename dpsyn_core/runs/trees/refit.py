"""More linked tables from what a run released, at no budget: post-processing of a release file."""

from __future__ import annotations

import time
from dataclasses import dataclass

from numpy.random import Generator

from dpsyn_core.errors import MethodError, ReceiptError
from dpsyn_core.privacy import Refit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.release import Release
from dpsyn_core.runs.release_file import ReleaseFile
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.trees.chunks import put_together, roots_at_once
from dpsyn_core.runs.trees.decoder import decoded
from dpsyn_core.runs.trees.fit import TreeFit
from dpsyn_core.runs.trees.release import TreePlan, copies_of
from dpsyn_core.runs.trees.release_file import TreeFile, unpaid
from dpsyn_core.runs.verify.contradictions import contradictions
from dpsyn_core.runs.verify.receipts import manifest_faults

WHOLE = (
    "a condition, a choice of columns or a further rule of one table says nothing of the records that hang on it, or "
    "that it hangs on; leave it out, and select among the tables that are made"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeChanges:
    """What a refit of linked tables changes. method: None: the system of the run. tables: sets to make."""

    method: str | None = None
    settings: dict[str, object]
    n_records: int | None = None
    tables: int = 1


def check_tree(found: ReleaseFile, name: str) -> TreeFile:
    """The released tables, once schema, charges and noise agree. name: of the file. Raises ReceiptError."""
    tree: TreeFile = found.released
    faults = [*manifest_faults(found.manifest, found.document), *contradictions(found.manifest, schema=tree.schema)]
    made = {"records": {}, "copies": 1}  # what a file of released values does not say
    if {**found.manifest.settings, **made} != {**tree.settings.stated(), **made}:
        faults.append("its tables are said to be of other settings than those of its manifest")
    faults += unpaid(found.manifest, tree)
    if found.manifest.refit is not None:
        faults.append("its manifest is that of a refit, and the release of the run is needed")
    if faults:
        msg = f"no table is made of '{name}': {'; '.join(dict.fromkeys(faults))}"
        raise ReceiptError(msg)
    return tree


def refit_tree(
    found: ReleaseFile, name: str, changes: TreeChanges, *, rng: Generator, seed: int | None,
    progress: Progress = silent,
) -> Release:  # fmt: skip
    """Makes further linked tables. Guarantee: that of the run, whose charges the manifest repeats; no record is read.

    Args:
        found: the release file of the run.
        name: of that file.
        changes: to the run.
        rng: of the post-processing.
        seed: of `rng`; that of the run makes its tables again.
        progress: told the stages.

    Raises:
        ReceiptError: the parts of the file contradict each other.
        InputError: the changes do not fit the release.
    """
    started = time.perf_counter()
    tree, paid = check_tree(found, name), found.manifest
    own = tree.settings
    if changes.method not in (None, own.system):
        msg = f"'{own.system}' measured these tables, and '{changes.method}' measures others; leave the method out"
        raise MethodError(msg)
    asked = own.run()
    spec = RunSpec.of(
        epsilon=paid.epsilon, delta=paid.delta, n_records=changes.n_records, tables=changes.tables,
        **{**asked, "settings": {**asked["settings"], **changes.settings}},
    )  # fmt: skip
    plan = TreePlan.of(spec, tree.schema)
    most = roots_at_once(tree.schema, None)
    fit = TreeFit(
        plan.working, config=plan.config, budget=spec.budget, costs=plan.costs, rng=rng, progress=progress
    )  # fmt: skip
    fit.take(tree.released)
    forests = fit.forests(spec.n_records, most=most)
    copies = copies_of(plan, tree.released, forests, most=most, rng=rng, progress=progress)
    arrows = tuple(
        put_together(
            (decoded(one, tree.schema, tree.released.headers, rng=rng, measured=plan.working) for one in made),
            tree.schema,
        )
        for made in copies
    )
    records = {n: t.num_rows for n, t in arrows[0].items()}
    made_of = Refit(
        release=found.sha256, by=None, method=own.system,
        settings=plan.settings.model_copy(update={"records": records}).stated(), where=None, columns=None, rules=(),
    )  # fmt: skip
    stated = paid.model_copy(
        update={
            "refit": made_of, "n_records": sum(records.values()), "seed": seed,
            "seconds": round(time.perf_counter() - started, 1), "digests": None, "signature": None,
        }
    )  # fmt: skip
    return Release(
        copies=arrows, arrow_copies=arrows, manifest=stated, schema=tree.schema, measurements=tree.released
    )  # fmt: skip
