"""Systems: choosing one, its settings from its config, output size, and what a run will take."""

import json
import math
from functools import lru_cache
from typing import Any

import streamlit as st

from dpsyn_core.runs import Candidate, RunSpec
from dpsyn_core.systems import registry
from ui.questions import kept
from ui.shared.state import Linked, Workspace
from ui.shared.text import ASSETS, engine, field, literal, local, number, percent, t
from ui.shared.theme import facts, note, private_tag, table
from ui.synthesize.forms import settings_form

DEFAULT = registry.DEFAULT
MOST_RECORDS = 50_000_000  # that one run writes
FIELDS = ("method", "n_records", "seed")  # keys of fields that keep their values on other pages


def chosen(space: Workspace) -> str:
    """The system that the visitor chose, else the default."""
    method = space.choices.method
    if method in ("", registry.DEFAULT):  # that it is offered needs no look at all others, which takes a second
        return registry.DEFAULT
    return method if method in offered(space) else registry.DEFAULT


def offered(space: Workspace) -> list[str]:
    """The built-in systems, the default one first, then those of other installed packages; of trees that keep keys."""
    own = [registry.DEFAULT, *(n for n in registry.names() if n != registry.DEFAULT), *registry.others()]
    return own if space.linked is None else [n for n in own if registry.config_class(n).takes_links]


def put_linked(space: Workspace, linked: Linked | None) -> None:
    """Puts linked tables in the place of the one table, which then waits, or takes them away again (None).

    What means something else for the other kind of tables is not carried over.
    """
    if (linked is None) != (space.linked is None):
        space.choices.n_records = space.choices.questions_share = None
        forget_fields()
    space.linked = linked


def _label(name: str) -> str:
    """What the list of systems calls one: the default is marked, and so is one that is not ours."""
    if (package := registry.package_of(name)) is not None:
        return t("synthesize.plugin", name=name, package=package[0])
    return t("synthesize.recommended", name=name) if name == registry.DEFAULT else name


def spelt(name: str) -> str:
    """A system's name as it stands first on a page: the default one is spelt out, for its name is an abbreviation."""
    return t("synthesize.spelt", name=name) if name == registry.DEFAULT else name


def settings_of(space: Workspace, method: str) -> dict[str, Any]:
    """The visitor's settings of a system, where they differ from the defaults."""
    return dict(space.choices.settings.get(method, {}))


def run_of(space: Workspace) -> RunSpec:
    """The run that the visitor's choices describe; with the questions that came inside the schema, which move out."""
    choices, method, asked = space.choices, chosen(space), kept.fitting(space)
    settings, chosen_on = settings_of(space, method), choices.chosen_on
    if chosen_on is not None and str(Candidate(method=method, settings=settings)) not in chosen_on.candidates:
        chosen_on = None  # another system, or other settings, than any that were compared
    return RunSpec(
        epsilon=choices.epsilon,
        delta=choices.delta,
        method=method,
        settings=settings,
        chosen_on=chosen_on,
        n_records=choices.n_records,
        seed=choices.seed,
        dataset=space.ledger or None,
        questions=asked.document() if len(asked) else None,
        questions_share=_share(space, len(asked)),
    )


def _share(space: Workspace, asked: int) -> float | None:
    """The part of the budget for questions: nothing where the system takes none; of trees only where some are asked."""
    if space.linked is not None:
        return space.choices.questions_share if asked else None
    return space.choices.questions_share if registry.config_class(chosen(space)).takes_questions else 0.0


def take(space: Workspace, method: str, settings: dict[str, Any] | None = None) -> None:
    """Chooses a system from another page, with settings where they are given; the Synthesize page then shows them."""
    space.choices.method = method
    if settings is not None:
        space.choices.settings[method] = settings
    forget_fields()


def forget_fields() -> None:
    """Makes the fields of the Synthesize page start from the choices again, for they keep what was typed into them."""
    for key in [k for k in st.session_state if k in FIELDS or str(k).startswith("setting.")]:
        del st.session_state[key]


def choose(space: Workspace) -> None:
    """The systems, each with a sentence on when to use it and what it promises."""
    names = offered(space)
    more: dict[str, Any] = {"label_visibility": "collapsed", "persist_state": "session"}
    at = names.index(chosen(space))
    method = st.selectbox(t("synthesize.method"), names, at, format_func=_label, key="method", **more)
    space.choices.method = method
    st.markdown(summary(method))
    note(t("synthesize.guarantee", text=promise(method)))
    if space.linked is not None:
        note(t("linked.system_only"))


def summary(name: str) -> str:
    """When to use a system, in the visitor's language."""
    return engine(f"system.{name}.summary", registry.config_class(name).summary)


def promise(name: str) -> str:
    """What a system guarantees, in the visitor's language."""
    text = registry.config_class(name).guarantee.text
    return engine(f"guarantee.{text}", text)


def compared(space: Workspace) -> None:
    """Every system with what it is for, its guarantee, and what it scored and took on the simulated sample."""
    if space.linked is not None:
        return
    known, rows = measured(), []
    for name in sorted(registry.names(), key=lambda n: known.get(n, {}).get("pairs", 9.0)):
        got = known.get(name)
        pairs, seconds = ("–", "–") if got is None else (percent(got["pairs"]), f"{local(got['seconds'], 'g')} s")
        rows.append([f"{name}\n{summary(name)} {promise(name)}", pairs, seconds])
    with st.expander(t("synthesize.compare")):
        head = [t(f"synthesize.column_{what}") for what in ("name", "pairs", "seconds")]
        table(head, rows, alt=t("synthesize.table_alt"))
        for one in list(known.values())[:1]:
            note(t("synthesize.measured", floor=percent(one["floor"])))


@lru_cache(maxsize=1)
def measured() -> dict[str, dict[str, Any]]:
    """What `python -m benchmarks.systems_measured` wrote about each system; public."""
    path = ASSETS / "systems.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


def settings(space: Workspace) -> None:
    """The settings of the chosen system."""
    method = chosen(space)
    config = registry.config_class(method)
    if not config.model_fields:
        note(t("synthesize.no_settings"))
        return
    with st.expander(t("synthesize.settings"), key="settings_expander"):
        got = settings_form(config, settings_of(space, method), key=f"setting.{method}")
        space.choices.settings[method] = got
        if got:
            note(t("synthesize.changed", names=", ".join(got)))


def output(space: Workspace) -> None:
    """Number of records to write, and the seed of the post-processing."""
    choices = space.choices
    first, second = st.columns(2, vertical_alignment="bottom")
    more = field("synthesize.rows") | {"placeholder": t("synthesize.rows_auto"), "persist_state": "session"}
    if space.linked is not None:
        more["label"] = t("linked.n_roots", root=literal(space.linked.individuals))
    choices.n_records = first.number_input(
        min_value=1, max_value=MOST_RECORDS, value=choices.n_records, key="n_records", **more
    )
    more = field("synthesize.seed") | {"persist_state": "session"}
    choices.seed = second.number_input(min_value=0, max_value=2**31 - 1, value=choices.seed, key="seed", **more)


def _estimate_in_place(space: Workspace) -> None:
    """What a run on a table outside the app will take, by its files: for the owner, for it tells how large they are."""
    from dpsyn_core.measure import shown
    from ui.synthesize.estimates import SPREAD, START, in_place

    choice = in_place(space)
    seconds = START + choice.seconds
    items = [("time", _between(math.floor(seconds / SPREAD), math.ceil(seconds * SPREAD)))]
    items.append(("memory", t("synthesize.about", size=shown(choice.memory))))
    items += [("scratch", shown(choice.scratch))] if choice.scratch else []
    private_tag()
    _takes(items)


def _between(low: float, high: float) -> str:
    return t("synthesize.between", low=number(low), high=number(high))


def _takes(items: list[tuple[str, str]]) -> None:
    """What a run takes of time, memory and scratch."""
    facts(*((value, t(f"synthesize.{what}"), t(f"synthesize.{what}_note")) for what, value in items))


def estimate(space: Workspace) -> None:
    """What a run will take: seconds and memory, from the sizes alone; of one table, for which that was measured."""
    if space.linked is not None:
        return
    from dpsyn_core.platforms import limits_memory
    from ui.synthesize.estimates import estimated

    if not limits_memory():
        note(t("synthesize.unlimited"), "warning")

    # in safe mode others may look at the screen, who should not see that a table is too large for the app
    if space.dataset is not None and space.dataset.place is not None and not space.choices.safe:
        _estimate_in_place(space)
        return
    got = estimated(space, chosen(space))
    if got is not None:
        seconds = _between(max(1, math.floor(got.low)), math.ceil(got.high))
        _takes([("time", seconds), ("memory", t("synthesize.mb", mb=number(got.megabytes)))])
