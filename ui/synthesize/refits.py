"""More tables from a release, on Synthesize and Export: nothing is charged, and no private table is needed."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.runs import SUFFIX, columns_in, manifest_of, schema_in, with_rules
from dpsyn_core.systems import DEFAULT
from ui.schema import tried
from ui.schema.rule_words import rule_words
from ui.schema.rules import form, line
from ui.shared import results, uploads
from ui.shared.faults import refusals
from ui.shared.jobs import Job
from ui.shared.state import Workspace, jobs
from ui.shared.text import literal, sentence, t
from ui.shared.theme import note
from ui.synthesize.estimates import job_memory, job_seconds

if TYPE_CHECKING:
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.schema import Schema

MAKERS = (None, "rls", "independent", "dpsyn", "mst")  # None: the system of the run, where it can
LARGEST_SEED = 2**53 - 1  # a browser holds no larger whole number


def panel(space: Workspace) -> None:
    """A form behind an expander: the file, and what the new table has otherwise."""
    with st.expander(t("refit.title"), key="refit_panel"):
        note(t("refit.lead"))
        given = uploads.one(t("refit.file"), [SUFFIX[1:]], key="refit_file")
        if given is not None and asked(space, given.getvalue(), given.name, key="refit"):
            st.rerun()


def asked(space: Workspace, content: bytes, name: str, *, key: str) -> Job | None:
    """The form of a release, or why there is none in a sentence; the job, once it was started. key: of the fields."""
    try:
        digest = hashlib.sha256(content).hexdigest()
        paid, names, schema = results.kept(space, ("refit", digest), lambda: _looked_at(content, name))
    except DPSynError as error:
        st.error(literal(sentence(error)))
        return None
    if paid.hanging:
        return _asked_of_tree(space, content, paid, schema, key)
    changes = _changes(names, paid, key)
    at = f"{key}_rules"
    if st.session_state.get(at, ("", ()))[0] != digest:
        st.session_state[at] = (digest, ())  # another release has other columns
    # of another table than the one that is loaded nothing is known here: the refit asks by its name on the ledger
    same = space.dataset is not None and space.dataset.ledger == paid.dataset
    tables = tried.names(space) if same else ()
    rules = _rules(schema, changes["columns"], at, key, tables)
    part = changes["where"] is not None or changes["columns"] is not None
    if changes["maker"] is None and part and paid.method not in MAKERS:
        note(t("refit.instead", method=paid.method, made=DEFAULT))
    if st.button(t("refit.start"), key=f"{key}_start", type="primary"):
        with refusals():
            if schema is not None:
                with_rules(schema, rules, changes["columns"])
            return start(space, content, paid, **changes, rules=rules)
    return None


def _looked_at(content: bytes, name: str) -> tuple[Manifest, tuple[str, ...], Schema | None]:
    return manifest_of(content, name), columns_in(content, name), schema_in(content, name)


def _asked_of_tree(space: Workspace, content: bytes, paid: Manifest, schema: Schema | None, key: str) -> Job | None:
    """The form of a release of linked tables: a condition is about roots, which stay with all that hangs on them."""
    from dpsyn_core.runs import Changes, described_tree, schema_of_refit
    from dpsyn_core.schema import LinkedSchema

    tree = schema if isinstance(schema, LinkedSchema) else None
    described = [] if tree is None else [(one.name, one.columns) for one in tree.tables if one.columns is not None]
    changes = _changes(tuple(f"{table}.{n}" for table, one in described for n in one.output_names), paid, key)
    note(t("linked.refit_where"))
    if not st.button(t("refit.start"), key=f"{key}_start", type="primary"):
        return None
    with refusals():
        if tree is not None:
            schema_of_refit(Changes(n_records=changes["size"], where=changes["where"]), tree)
            described_tree(tree, (), changes["columns"])
        return start(space, content, paid, **changes, rules=())
    return None


def _changes(names: tuple[str, ...], paid: Manifest, key: str) -> dict[str, Any]:
    """What the visitor chose of size, of linked tables that of the root, seed, system, condition and columns."""
    first, second, third = st.columns([2, 2, 3], gap="medium")
    size = first.number_input(t("refit.size"), 1, 100_000_000, None, key=f"{key}_size", help=t("refit.size_help"))
    tip = t("refit.seed_help") + (" " if paid.seed is None else " " + t("refit.seed_run", seed=paid.seed))
    seed = second.number_input(t("refit.seed"), 0, LARGEST_SEED, None, key=f"{key}_seed", help=tip)
    maker = None
    if not paid.hanging:  # what one system measured of linked tables is no other's
        called = {one: one or t("refit.same") for one in MAKERS}
        maker = third.selectbox(t("refit.method"), MAKERS, format_func=called.__getitem__, key=f"{key}_method")
    about, example = None if paid.hanging else t("refit.where_help"), "CITY = Bellmere and AGE in [18, 30]"
    where = st.text_input(t("refit.where"), key=f"{key}_where", placeholder=example, help=about)
    every = t("refit.columns_all")
    kept = st.multiselect(t("refit.columns"), names, key=f"{key}_columns", format_func=literal, placeholder=every)
    return {"size": size, "seed": seed, "maker": maker, "where": where.strip() or None, "columns": tuple(kept) or None}


def _rules(
    schema: Schema | None, columns: tuple[str, ...] | None, at: str, key: str, tables: tuple[str, ...]
) -> tuple[dict[str, Any], ...]:
    """Further rules of any kind: the list, each with a button that takes it out, and the form of the Schema page."""
    from dpsyn_core.schema import check_rules

    digest, rules = st.session_state[at]
    st.markdown(f"**{t('refit.rules', count=len(rules))}**")
    if schema is None:
        note(t("refit.rules_large"))
        return ()
    note(t("refit.rules_help", count=len(schema.rules)))
    for number, rule in enumerate(with_rules(schema, rules).rules[len(schema.rules) :]):
        if line(rule_words(rule), t("rules.remove"), f"{key}_rule_remove_{number}"):
            st.session_state[at] = (digest, tuple(r for i, r in enumerate(rules) if i != number))
            st.rerun()
    added = form(schema, f"{key}_rule")
    if added is not None:
        with refusals():
            check_rules(with_rules(schema, (*rules, added), columns))
            st.session_state[at] = (digest, (*rules, *tried.marked(tables, [added])))
            st.rerun()
    return tuple(rules)


def start(
    space: Workspace,
    content: bytes,
    paid: Manifest,
    *,
    rules: tuple[dict[str, Any], ...] = (),
    size: int | None = None,
    seed: int | None = None,
    maker: str | None = None,
    where: str | None = None,
    columns: tuple[str, ...] | None = None,
) -> Job:
    """Queues the refit; the worker reads and checks the whole file, under its limits. Raises DPSynError.

    What hangs on an individual says whether the tables of the release are linked.
    """
    import numpy as np

    from dpsyn_core.runs import RELEASE, JobSpec

    tree = bool(paid.hanging)
    system = str(paid.settings.get("system", DEFAULT))[:40] if tree else paid.method
    seed = int(np.random.default_rng().integers(2**53)) if seed is None else seed
    spec = JobSpec(
        epsilon=paid.epsilon, delta=paid.delta, method=system, settings={} if tree else paid.settings, n_records=size,
        seed=seed, dataset=paid.dataset, release=RELEASE, query_vouched=paid.query is not None, maker=maker,
        where=where, columns=columns, rules=rules, linked=tuple(one.table for one in paid.hanging),
        memory_mb=job_memory(), seconds=job_seconds(),
    )  # fmt: skip
    made = maker or (system if system in MAKERS or not (where or columns) else DEFAULT)
    what = f" {t('refit.of', where=where)}" if where else ""
    what += f" {t('refit.some', count=len(columns))}" if columns else ""
    what += f" {t('refit.ruled', count=len(rules))}" if rules else ""
    files: dict[str, bytes] = {RELEASE: content}
    label, public = t("refit.label", method=made) + what, _table_of(space, paid)
    return jobs().start(space.owner, spec, None, None, label=label, fingerprint="refit", public=public, files=files)


def _table_of(space: Workspace, paid: Manifest) -> dict[str, Any]:
    """What is kept of the table behind a release: that of the visitor's own run, where it is theirs."""
    for job in jobs().of(space.owner):
        if job.state == "done" and results.manifest(space, job)["run_id"] == paid.run_id:
            return dict(job.public)
    return {"serial": "", "salt": "00", "dataset": paid.dataset}
