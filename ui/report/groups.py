"""Groups: means by group that are not those of the real table, and who pays for the noise."""

from functools import partial

import streamlit as st

from dpsyn_core.report import profile
from ui.report.look import Look
from ui.shared.figure_files import table_button
from ui.shared.results import kept
from ui.shared.text import figure_words, t
from ui.shared.theme import note, section, show

SHOWN = 400  # rows of means by group on the page
# pixels of its columns in their order, so that both means are in view where names are long
WIDTHS = {"number": 104, "category": 104, "value": 58, "real": 58, "synthetic": 84, "records": 84}


def panel(view: Look) -> None:
    """Small groups on the left, differences between groups on the right."""
    left, right = st.columns([5, 7], gap="large")
    with left:
        section(t("by_group.small"))
        _small(view)
    with right:
        section(t("by_group.gaps"))
        _gaps(view)


def _small(view: Look) -> None:
    """Error by size of group, by a column that the reader chooses."""
    ids = tuple(s.job.id for s in view.sides)
    names = kept(view.space, ("grouping", *ids), lambda: profile.grouping(view.first.comparison))
    if not names:
        note(t("by_group.none"))
        return
    name = st.selectbox(t("by_group.by"), names, key=view.key("report_groups"))
    tables = {view.name(s): s.comparison for s in view.sides}
    figure = kept(view.space, ("small groups", *ids, name), lambda: profile.groups_figure(tables, name, figure_words()))
    show(figure, key="small_groups")
    note(figure.caption)
    note(t("by_group.note"))


def _gaps(view: Look) -> None:
    """Sentences on what is not right, then every mean by group."""
    for side in view.sides:
        prefix = "" if len(view.sides) == 1 else f"{view.name(side)}: "
        words, c, run = figure_words(), side.comparison, side.job.id
        said = kept(view.space, ("gaps", run), partial(profile.gap_sentences, c, words))
        rows = kept(view.space, ("means", run), partial(profile.gap_rows, c, words))
        between = kept(view.space, ("variances", run), partial(profile.variance_sentences, c, words))
        for sentence, far in between:
            note(prefix + sentence, "warning" if far else "note")
        if not rows:
            if not between:
                note(prefix + t("by_group.no_gaps"))
            continue
        for sentence in said or ([] if any(far for _, far in between) else [t("figure.gaps_none")]):
            note(prefix + sentence, "warning" if said else "note")
        lost = profile.lost_groups(c, words)
        if lost:
            note(prefix + lost, "warning")
        heads = {k: t(f"by_group.{k}") for k in ("number", "category", "value", "records", "real", "synthetic")}
        shown = [dict(zip(heads.values(), row, strict=True)) for row in rows[:SHOWN]]
        widths = {heads[k]: st.column_config.Column(width=w) for k, w in WIDTHS.items()}
        key, alt, order = f"gaps_{side.letter}", t("by_group.gaps"), [heads[k] for k in WIDTHS]
        st.dataframe(shown, hide_index=True, key=key, alt=alt, column_config=widths, column_order=order)
        table_button(f"gaps_table_{side.letter}", alt, shown)
