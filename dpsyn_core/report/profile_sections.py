"""Sections of the HTML report on single columns in figures, means by group, and small groups."""

from __future__ import annotations

from collections.abc import Sequence

from dpsyn_core.metrics import moved
from dpsyn_core.report.document import ScoredTable
from dpsyn_core.report.page import Page
from dpsyn_core.report.profile import gap_rows, gap_sentences, grouping, groups_figure, lost_groups, profile_rows
from dpsyn_core.report.words import ENGLISH

SHOWN = 60  # rows of means by group: those that are farthest off
CHOICES = 12  # columns whose groups can be chosen


def columns(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Every column: blank cells, distinct values, mean, deviation and quantiles, real and synthetic."""
    page.section("Every column in figures", private=True)
    page.text(
        "Real, then synthetic. Figures of the two files: blank cells, distinct values, mean, standard deviation and "
        "quantiles. “Not right” names what a fresh sample of the people would hardly have."
    )
    for t in tables:
        if len(tables) > 1:
            page.heading(t.name)
        page.table(
            ["Column", "Blank", "Distinct", "Mean", "Deviation", "Smallest", "Median", "95 %", "Largest", "Not right"],
            profile_rows(t.comparison),
        )


def gaps(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Means of numbers by the values of short categories, the farthest first, and what of them is not right."""
    known = [t for t in tables if moved.gaps(t.comparison)]
    if not known:
        return
    page.section("Differences between groups", private=True)
    page.text(
        "The mean of each number among the records of each value of a short category: first those off by more than "
        "chance, then the farthest."
    )
    for t in known:
        if len(tables) > 1:
            page.heading(t.name)
        said = gap_sentences(t.comparison)
        page.text(" ".join([*(said or [ENGLISH["gaps_none"]]), lost_groups(t.comparison)]).strip())
        page.table(
            ["Number", "Category", "Value", "Records", "Real mean", "Synthetic mean"], gap_rows(t.comparison)[:SHOWN]
        )


def small_groups(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Error by size of group, by a column that the reader chooses."""
    c = tables[0].comparison
    options = {}
    for name in grouping(c)[:CHOICES]:
        options[name] = groups_figure({t.name: t.comparison for t in tables}, name)
    if options:
        page.section("Small groups", private=True)
        page.text(
            "How far the records of each group are off in the other columns, which count in a few stretches of about "
            "equal size; grey: what a fresh sample of the same people would be off by."
        )
        page.choice("small-groups", options, "Groups of")
