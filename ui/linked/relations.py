"""What is known of links of a run: their scores beside the real tables, whether keys hold, and what was released."""

import numpy as np
import streamlit as st

from dpsyn_core.privacy import charge_name
from dpsyn_core.report import certificate_words
from dpsyn_core.runs import KeysOfLink, LinkVerdict, check_keys, link_verdicts
from ui.report import comparing
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import figure_words, local, number, t
from ui.shared.theme import marked, note


def keys(space: Workspace, job: Job) -> tuple[KeysOfLink, ...]:
    """The keys of the synthetic tables, counted once."""
    tree, made = results.tree(space, job), results.tables(space, job)
    return results.kept(space, ("linked keys", job.id), lambda: check_keys(tree, made))


def key_words(found: KeysOfLink) -> str:
    """What holds of the keys of one link, in a sentence."""
    if not found.hold:
        return t("linked.keys_broken", parent=found.parent, child=found.child)
    counts = {name: number(getattr(found, name)) for name in ("children", "most", "allowed", "childless")}
    return t("linked.keys_hold", parent=found.parent, child=found.child, **counts)


def verdicts(space: Workspace, job: Job) -> list[LinkVerdict] | None:
    """The scores of the links between their references; None where other tables are loaded."""
    real = comparing.real_tables(space, job)
    if real is None:
        return None

    def make() -> list[LinkVerdict]:
        # which roots the references draw decides nothing that is released, and stays the same for a run
        drawn = np.random.default_rng(job.spec.seed)
        return link_verdicts(results.tree(space, job), comparing.separate(space, job), real, rng=drawn)

    return results.kept(space, ("linked verdicts", job.id), make)


def released(space: Workspace, job: Job) -> None:
    """Keys and charges, from released values alone."""
    for one in keys(space, job):
        note(key_words(one), "note" if one.hold else "alarm")
    charges, heads = results.stated(job).charges, [t("released.column"), t("linked.noise"), t("linked.cells")]
    noise = [local((c.sigma or c.scale or 0.0) / (c.sensitivity or 1.0), ".3g") for c in charges]
    words = certificate_words(figure_words())
    cells = [(charge_name(c.name, words), off, number(c.cells)) for c, off in zip(charges, noise, strict=True)]
    rows = [dict(zip(heads, row, strict=True)) for row in cells]
    st.dataframe(marked(rows), hide_index=True, key="released_table", alt=t("released.alt"))
    note(t("linked.noise_note"))
