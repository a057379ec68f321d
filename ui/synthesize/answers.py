"""Releases without a synthetic table, on the Synthesize page: marginals by PriView and frequent itemsets by PrivBasis.

Each has a budget of its own, says what it will cost before it is spent, is charged on the ledger, and has a manifest.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.errors import SchemaError
from ui.privacy.budget import read
from ui.shared import marginals, stamps, tables
from ui.shared.choices import one_of
from ui.shared.downloads import download
from ui.shared.faults import refusals
from ui.shared.state import Dataset, Workspace, check_shown, workspace
from ui.shared.text import amount, field, local, number, plain, t
from ui.shared.theme import not_private, note
from ui.synthesize.starting import NO_TABLE

if TYPE_CHECKING:
    import pandas as pd

    from dpsyn_core.privacy import Budget, Manifest
    from dpsyn_core.runs import MarginalRelease, RunSpec
    from dpsyn_core.schema import Schema

KINDS = ("marginals", "itemsets")


def panel(space: Workspace) -> None:
    """Folded away until somebody wants it; of linked tables about one of them."""
    if space.linked is None and (space.schema is None or space.dataset is None or space.dataset.table is None):
        return
    with st.expander(t("answers.title"), key="answers_expander"), refusals("warning"):
        _offered(alone(space))


def _offered(space: Workspace) -> None:
    """The choice of a release of one table, and the release."""
    if space.schema is None or space.dataset is None:
        return
    if space.dataset.whole is None:
        note(t("answers.large"), "warning")
        return
    kind = one_of(t("answers.title"), KINDS, key="answers_kind", called=lambda k: t(f"answers.{k}"))
    if not space.schema.private:
        not_private(stamps.shortly(space))
    (_itemsets if kind == "itemsets" else _marginals)(space, space.schema)


def alone(space: Workspace) -> Workspace:
    """The one table that is loaded, or the one of linked ones that was chosen, whose individuals are roots.

    Its releases are booked under the name of all tables. Raises SchemaError where its records do not name their root.
    """
    if space.linked is None:
        return space
    part = tables.choose(space, key="answers_table")
    name = space.linked.name_of(part)
    if space.linked.panel is not None:
        msg = "the file of a panel is two tables, and neither is released alone; load it as one table on the Data page"
        raise SchemaError(msg)
    return Workspace(
        space.owner,
        dataset=part.dataset,
        schema=space.linked.schema().table_alone(name),
        choices=space.choices,
        memo=space.memo.setdefault(("alone", name), {}),
        one_of_linked=True,
    )


def _price(space: Workspace, key: str, *, pure: bool) -> Budget | None:
    """The budget of this release alone; None where it is no budget, with the reason on the page."""
    text = st.columns([2, 7])[0].text_input(value="1", key=f"answers_{key}_price", **field("answers.price"))
    got = read(text or "", "0" if pure else plain(space.choices.delta))
    if got.budget is None:
        note(got.epsilon_problem or got.delta_problem, "alarm")
    return got.budget


def _marginals(space: Workspace, schema: Schema) -> None:
    """Views are paid for once; every marginal is read off them for nothing, as often as somebody likes."""
    note(t("answers.marginals_lead"))
    names = marginals.columns(schema, key=f"answers{loaded(space).serial if space.one_of_linked else ''}")
    made = views_of(space, schema)
    if made is not None:
        how = marginals.settings(key="answers")
        found = marginals.read(made.released, schema, names, how) if names else None
        note(t("answers.free", epsilon=amount(made.manifest.epsilon)))
        if found is not None:
            frame = marginals.shown(found, schema, key="answers_marginals")
            _files(made, schema, frame)
    budget = _price(space, "marginals", pure=False)
    if budget is None or not (names or made):
        return
    with refusals("alarm"):
        note(_cost(schema, _spec(space, budget, "priview")))
        words = t("answers.spend" if made is None else "answers.spend_again", epsilon=amount(budget.epsilon))
        pressed = st.button(words, key="answers_release_marginals")
        if pressed and _run(
            space, "marginals", lambda: (schema.dumps(), _released_marginals(space, schema, names, budget))
        ):
            st.rerun()


def views_of(space: Workspace, schema: Schema) -> MarginalRelease | None:
    """The views that this visitor paid for last, where they are of this schema."""
    made = space.memo.get("answers_marginals")
    return made[1] if made is not None and made[0] == schema.dumps() else None


def _files(made: MarginalRelease, schema: Schema, frame: pd.DataFrame) -> None:
    """The marginal, the views that further ones can be read off, and the manifest that names both."""
    from dpsyn_core.estimate import pack_measurements
    from dpsyn_core.privacy import Digests

    suffix = "" if made.manifest.private else "-NOT-PRIVATE"
    table, views = marginals.csv_of(frame), pack_measurements(made.released, schema=schema)
    manifest = made.manifest.written(
        Digests(files={"csv": hashlib.sha256(table).hexdigest()}, measurements=hashlib.sha256(views).hexdigest())
    )
    note(made.manifest.guarantee)
    with st.container(horizontal=True, gap="small"):
        marginals.csv_button(frame, f"marginals{suffix}.csv", key="answers_marginals")
        download(t("answers.views"), f"marginals{suffix}.measurements.json.gz", views, key="answers_marginals_views")
        _manifest_button(manifest, "marginals")


def _spec(space: Workspace, budget: Budget, method: str, settings: dict[str, Any] | None = None) -> RunSpec:
    """The run of one of these releases, on the table that is loaded."""
    from dpsyn_core.runs import RunSpec

    data = loaded(space)
    given = settings or {}
    return RunSpec(epsilon=budget.epsilon, delta=budget.delta, method=method, settings=given, dataset=data.ledger)


def _cost(schema: Schema, spec: RunSpec) -> str:
    """What the release will charge, from its plan; reads no data."""
    from dpsyn_core.runs import plan

    steps = plan(spec, schema).steps
    tables = sum(s.parts[1] for s in steps)
    sigma = max((s.sigma[1] for s in steps if s.sigma is not None), default=0.0)
    return t("answers.plan", tables=number(tables), sigma=local(sigma, ".3g"))


def _released_marginals(space: Workspace, schema: Schema, names: list[str], budget: Budget) -> MarginalRelease:
    from dpsyn_core.runs import MARGINALS_METHOD, release_marginals

    data, spec = loaded(space), _spec(space, budget, MARGINALS_METHOD)
    facts = spec.facts(schema, query_vouched=data.query_vouched)
    return release_marginals(data.table, schema, [names] if names else [], spec, facts=facts)


def _itemsets(space: Workspace, schema: Schema) -> None:
    from dpsyn_core.measure import item_rows

    note(t("answers.itemsets_lead"))
    count = len(item_rows(schema))
    words = {which: t(f"answers.by_{which}") for which in ("k", "frequency")}
    by_count = one_of(t("answers.which"), tuple(words), key="answers_which", called=words.__getitem__, labelled=True)
    asked: dict[str, Any]
    if by_count == "frequency":
        share = st.number_input(t("answers.frequency"), 0.001, 1.0, 0.1, step=0.05, key="answers_frequency")
        asked = {"frequency": float(share)}
    else:
        asked = {"k": int(st.number_input(t("answers.k"), 1, 1000, 20, key="answers_k"))}
    budget = _price(space, "itemsets", pure=True)
    if budget is None:
        return
    note(t("answers.itemsets_plan", items=number(count)))
    if st.button(t("answers.spend", epsilon=amount(budget.epsilon)), key="answers_release_itemsets"):
        _run(space, "itemsets", lambda: _released_itemsets(space, schema, asked, budget))
    _result(space, "itemsets")


def _released_itemsets(
    space: Workspace, schema: Schema, asked: dict[str, Any], budget: Budget
) -> tuple[list[dict[str, Any]], Manifest]:
    from dpsyn_core.measure import from_table
    from dpsyn_core.runs import ITEMSETS_METHOD, frequent_itemsets
    from dpsyn_core.tables import to_arrow

    data = loaded(space)
    source = from_table(to_arrow(data.table), schema)
    spec = _spec(space, budget, ITEMSETS_METHOD, asked)
    made = frequent_itemsets(source, spec, query_vouched=data.query_vouched, schema=schema)
    return made.rows(), made.manifest


def loaded(space: Workspace) -> Dataset:
    """The table that is loaded. Raises SchemaError without one."""
    if space.dataset is None:
        raise SchemaError(NO_TABLE)
    return space.dataset


def _run(space: Workspace, kind: str, release: Any) -> bool:
    """Spends, and keeps what was released for this visitor. Whether it went well."""
    with refusals():
        check_shown(workspace())
        with st.spinner(t("answers.running")):
            space.memo[f"answers_{kind}"] = release()
        return True
    return False


def _result(space: Workspace, kind: str) -> None:
    """The last release of a kind: its table, and both files."""
    import pandas as pd

    got = space.memo.get(f"answers_{kind}")
    if got is None:
        return
    rows, manifest = got
    frame = pd.DataFrame(rows)
    counts = {name: 1 if frame[name].abs().max() > 1 else 3 for name in frame.columns if frame[name].dtype.kind == "f"}
    marginals.frame(frame, counts, key=f"answers_{kind}")
    note(manifest.guarantee)
    suffix = "" if manifest.private else "-NOT-PRIVATE"
    with st.container(horizontal=True, gap="small"):
        marginals.csv_button(frame, f"{kind}{suffix}.csv", key=f"answers_{kind}")
        _manifest_button(manifest, kind)


def _manifest_button(manifest: Manifest, kind: str) -> None:
    suffix = "" if manifest.private else "-NOT-PRIVATE"
    name = f"{kind}{suffix}.manifest.json"
    download(t("answers.manifest"), name, manifest.to_json(), key=f"answers_{kind}_manifest")
