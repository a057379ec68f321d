"""Attack room: shadow runs of the attacked run's system on the owner's table, and the epsilon that explains the result.

Evidence beside the proved bound. Everything here reads private data; nothing is booked on the ledger or exported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dpsyn_core.privacy import trade_off
from dpsyn_core.runs import ATTACK_RESULT, ATTACKS, RECORDS, RUNS, AttackResult, AttackSpec, Rate, RunSpec
from ui.shared import results
from ui.shared.charts import Figure, band, chart, curve
from ui.shared.choices import one_of
from ui.shared.jobs import Job
from ui.shared.state import Workspace, attacks
from ui.shared.text import field, language, literal, local, number, percent, t
from ui.shared.theme import facts, note, palette, section, show, table
from ui.shared.watching import Far, ended_well, watch

if TYPE_CHECKING:
    from dpsyn_core.schema import Schema

CHOICES = {"membership": (20, 50, 100, 200, 400), "other": (10, 20, 50, 100)}  # shadow runs
SIZES = (500, 1000, 2000, 5000, 20_000)  # records that take part
VERDICTS = {"leak": st.error, "doubt": st.warning, "nothing": st.info}
ATTACKED = {*RunSpec.model_fields, "memory_mb", "seconds"}  # of a run's job: its choices and limits


def panel(space: Workspace, job: Job) -> None:
    """What an attack is, its controls, and the newest attack of each kind on the chosen run."""
    section(t("attack.title"))
    st.write(t("attack.lead"))
    if any(part.dataset is None or part.dataset.whole is None for part in space.parts.values()):
        note(t("attack.large"), "warning")
        return
    if not results.same_table(space, job):
        note(t("report.other_table"), "warning")
        return
    kind = one_of(t("attack.kind"), ATTACKS, key="attack_kind", called=lambda k: t(f"attack.{_key(k)}"))
    mine = [j for j in attacks().of(space.owner) if j.public.get("run") == job.id and _spec(j).kind == kind]
    live = next((j for j in mine if j.live), None)
    if live is None:
        _controls(space, job, kind, _spec(mine[0]) if mine else None)
    else:
        watch(attacks, space.owner, live, _far, key="attack")
    note(t(f"attack.about_{_key(kind)}"))
    note(t("attack.reading"))
    shown = next((j for j in mine if not j.live), None)
    if shown is not None:
        _ended(space, shown)
    note(t("attack.not_booked"))
    note(t("attack.distances"))


def _key(kind: str) -> str:
    return kind.replace("-", "_")


def _spec(job: Job) -> AttackSpec:
    """What an attack was asked to do."""
    return job.spec if isinstance(job.spec, AttackSpec) else AttackSpec.model_validate(job.spec.model_dump())


def _controls(space: Workspace, job: Job, kind: str, last: AttackSpec | None) -> None:
    """How many shadow runs of how many records, what is guessed, and the start; first as in the last attack."""
    schema = _attacked(space, job)
    about = _about(schema, kind, last)
    fields = 3 if kind == "inference" else 2
    a, b, *third, d = st.columns([*[3] * fields, 2], vertical_alignment="bottom")
    choices = CHOICES.get(kind, CHOICES["other"])
    at = _place(choices, last.runs if last else None, RUNS[kind])
    runs = a.selectbox(options=choices, index=at, key=f"attack_runs_{kind}", **field("attack.runs"))
    at, key = _place(SIZES, last.records if last else None, RECORDS), f"attack_records_{kind}"
    records = b.selectbox(options=SIZES, index=at, key=key, format_func=number, **field("attack.records"))
    secret = None
    if kind == "inference":
        from dpsyn_core.runs import attacked_columns

        columns = ("", *attacked_columns(schema, _asked(space, job, kind=kind, runs=runs, about=about)))
        at, key = _place(columns, last.secret if last else None, ""), f"attack_secret_{language()}_{about or ''}"
        every = t("attack.every")
        secret = third[0].selectbox(t("attack.secret"), columns, at, key=key, format_func=lambda n: n or every) or None
    if d.button(t("attack.start"), key="attack_start", type="primary", width="stretch"):
        attack = {"kind": kind, "runs": int(runs), "records": int(records), "secret": secret, "about": about}
        _start(space, job, _asked(space, job, **attack))
        st.rerun()


def _about(schema: Schema, kind: str, last: AttackSpec | None) -> str | None:
    """The linked table whose records are attacked; None for one table, and where whole roots are added or not."""
    if not schema.links or kind == "membership":
        return None
    names: list[str] = [table.name for table in schema.tables]
    first = last.about if last is not None and last.about in names else schema.links[0].child
    key = f"attack_table_{kind}"
    chosen: str = one_of(t("attack.table"), names, first=first, key=key, called=literal, labelled=True)
    return chosen


def _place(choices: Sequence[object], wanted: object, usual: object) -> int:
    """Where a choice stands; where the usual one does, if there is no such choice."""
    return choices.index(wanted if wanted in choices else usual)


def _attacked(space: Workspace, job: Job) -> Schema:
    """The schema of the attacked run: of a refit of linked tables that of the run whose system is attacked."""
    return results.paid_schema(space, job) if job.spec.linked else results.schema(space, job)


def _asked(space: Workspace, job: Job, **attack: Any) -> AttackSpec:
    """An attack on a run, with its settings and budget; a refit of linked tables has them in its manifest."""
    from dpsyn_core.schema import LinkedSettings

    run = job.spec.model_dump(include=ATTACKED)
    if job.spec.linked and job.spec.release is not None:
        run |= LinkedSettings.model_validate(results.manifest(space, job)["settings"]).run()
    return AttackSpec.model_validate(run | attack)


def _start(space: Workspace, job: Job, spec: AttackSpec) -> None:
    """Queues an attack on a run. Raises DPSynError."""
    from dpsyn_core.runs import check_attack

    schema = _attacked(space, job)
    given = space.inputs(schema)
    if isinstance(given, dict):
        spec = spec.model_copy(update={"linked": tuple(given)})
    check_attack(schema, spec)
    attacks().start(
        space.owner, spec, schema, given, label=job.label, fingerprint=job.fingerprint, public={"run": job.id}
    )


def _far(job: Job) -> Far:
    share, seen = job.part_done("shadow runs"), job.progress()
    if share is None:
        return 0.0, t("attack.preparing") if job.state == "running" else t("attack.queued")
    seconds = local(seen.get("seconds", 0), ".0f")
    return share, t("attack.progress", done=round(seen["done"]), runs=_spec(job).runs, seconds=seconds)


def _ended(space: Workspace, job: Job) -> None:
    if ended_well(job, cancelled=t("attack.cancelled")):
        path = job.folder / ATTACK_RESULT
        found = results.kept(space, ("attack", job.id), lambda: AttackResult.model_validate_json(path.read_bytes()))
        _result(found, job.label)
        _extent(found, results.paid_schema(space, job), _spec(job))


def _result(found: AttackResult, label: str) -> None:
    """Verdict, numbers, and the curve or the table of successes."""
    values = {"needed": local(found.needed, ".2f"), "promised": number(found.epsilon)}
    VERDICTS[found.verdict](t(f"attack.{found.verdict}", **values))
    share = t("attack.share", right=number(found.right), guesses=number(found.guesses))
    facts(
        (values["needed"], t("attack.needed"), t("attack.needed_note")),
        (values["promised"], t("attack.promised"), label),
        (share, t("attack.right"), t("attack.coins", coins=number(found.coins))),
    )
    if found.provable <= found.epsilon:
        note(t("attack.weak", most=local(found.provable, ".2f"), **values), "warning")
    else:
        note(t("attack.provable", most=local(found.provable, ".2f")))
    if found.roc is not None:
        area = local(found.roc.area, ".2f")
        show(_curve(found), alt=t("attack.curve_alt", area=area, **values), key="attack_curve", height=400)
        note(t("attack.area", area=area))
    if found.rates:
        head = [t("attack.column"), t("attack.inside"), t("attack.control"), t("attack.excess")]
        named = [t("attack.all") if r.name == "all columns" else r.name for r in found.rates]
        figures = [[percent(r.share), percent(r.control_share), _excess(r)] for r in found.rates]
        table(head, [[a, *rest] for a, rest in zip(named, figures, strict=True)], alt=t("attack.rates_alt"))
        note(t("attack.rates_note"))


def _extent(found: AttackResult, schema: Schema, spec: AttackSpec) -> None:
    """How many runs of how many records there were, and of linked tables what was moved and looked at."""
    values = {"runs": number(found.runs), "records": number(found.records), "all": number(found.table_records)}
    values["seconds"] = local(found.seconds, ".0f")
    if not schema.links:
        note(t("attack.made", **values))
        return
    note(t("attack.made_roots", root=schema.root.name, **values))
    if found.kind == "membership":
        note(t("attack.seen_membership"))
    else:
        note(t("attack.seen_records", table=spec.about or schema.links[0].child))


def _excess(rate: Rate) -> str:
    """The excess with its interval on a second line."""
    low, high = percent(rate.low), percent(rate.high)
    return f"{percent(rate.excess)}\n{t('attack.between', low=low, high=high)}".replace("-", "\N{MINUS SIGN}")


def _curve(found: AttackResult) -> Figure:
    """Who is found by who is wrongly called in; the bound of the promise above, a coin below."""
    colours, roc = palette(), found.roc
    if roc is None:
        return chart()
    x = np.unique(np.concatenate([np.linspace(0, 0.02, 21), np.linspace(0, 1, 101)]))
    most = 1 - trade_off(x, found.epsilon, found.delta)
    out = chart(
        curve(x, most, t("attack.limit"), colours.warning, "dot", width=2),
        band(roc.alarms, roc.low, roc.high, t("attack.band"), colours.accent),
        curve(roc.alarms, roc.found, t("attack.attack"), colours.accent),
        curve([0, 1], [0, 1], t("attack.coin"), colours.real, "dash", width=1.5),
        layout={"margin": {"r": 28}},
    )
    out.update_xaxes(title=t("attack.x"), range=[0, 1], tickformat=".0%")
    out.update_yaxes(title=t("attack.y"), range=[0, 1.02], tickformat=".0%")
    return out
