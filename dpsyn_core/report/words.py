"""The words of figures, in English: hover texts, axis titles and captions; the app's catalogue may translate them.

Hover texts hold Plotly's own fields (`%{x}`), captions hold `{placeholders}`; no entry holds both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Words = Mapping[str, str]
SHARE = re.compile(r"(?<=\d) ?%")
MARKS = str.maketrans(",.", ".,")
DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
MONTH = re.compile(r"(?<![\d-])(\d{4})-(\d\d)(?![\d-])")
DAYS = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d) … (\d\d)-(\d\d)(?!\d)")  # of one year, merged


def local(number: str, words: Words) -> str:
    """A number as the language writes it: 1,234.5% is 1.234,5 % where the mark of decimals is a comma."""
    return SHARE.sub("\u00a0%", number.translate(MARKS)) if words["decimal_mark"] == "," else number


def dated(text: str, words: Words) -> str:
    """Dates of ISO 8601 in a text as the language writes them: 2023-12-31 is 31.12.2023, and 2023-12 is 12/2023."""
    if words["decimal_mark"] != ",":
        return text
    text = DAYS.sub(r"\3.\2.–\5.\4.\1", text)
    return MONTH.sub(r"\2/\1", DAY.sub(r"\3.\2.\1", text))


ENGLISH: Words = {
    "decimal_mark": ".",
    "real": "real",
    "synthetic": "synthetic",
    "difference": "synthetic minus real",
    "none": "none",
    "fresh": "a fresh sample",
    "equal": "equal",
    "all_equal": "all equal",
    "released": "released (noisy)",
    "blank": "(blank)",
    # missing values, and a scatter of two numbers
    "missing_share": "share of blank cells",
    "missing_hover": "%{y}: %{x:.1%} blank<extra>%{fullData.name}</extra>",
    "missing_caption": "{count} columns have blank cells; the largest difference: {column}, real {real}, synthetic "
    "{synthetic}.",
    "missing_caption_one": "One column has blank cells: {column}, real {real}, synthetic {synthetic}.",
    "missing_alt": "Bars of the share of blank cells by column, real and synthetic. {finding}",
    "scatter_hover": "%{x:,.4~g}, %{y:,.4~g}<extra></extra>",
    "scatter_caption": "{up} against {across}, some records of each table; rank correlation of all: real {real}, "
    "synthetic {synthetic}.",
    "scatter_alt": "Two clouds of dots on the same axes, the real table on the left. {finding}",
    # the verdict
    "verdict_near": "Nearly as good as a fresh sample of the same people: keeps {kept} of the relations between "
    "columns; single columns are off by {ones}, pairs by {pairs}, a fresh sample by {floor}.",
    "verdict_good": "Good for single columns and pairs: keeps {kept} of the relations between columns; single "
    "columns are off by {ones}, pairs by {pairs}.",
    "verdict_kept": "Keeps {kept} of the relations between columns (100 %: as a fresh sample of the same people; 0 "
    "%: as unrelated columns). Single columns are off by {ones}; pairs by {pairs}, a fresh sample by {floor}, "
    "unrelated columns by {unrelated}.",
    "verdict_weak": "Most of the relations between columns are lost: keeps {kept} of them (100 %: as a fresh sample "
    "of the same people; 0 %: as unrelated columns). Single columns are off by {ones}; pairs by {pairs}, a fresh "
    "sample by {floor}, unrelated columns by {unrelated}.",
    "verdict_gone": "The relations between columns are gone: keeps {kept} of them, where 0 % are unrelated columns. "
    "Read nothing from this table that takes two columns. Single columns are off by {ones}; pairs by {pairs}, a "
    "fresh sample by {floor}, unrelated columns by {unrelated}.",
    "verdict_bins": "Keeps {kept} of the relations between columns where values are put into a few groups. Value by "
    "value pairs are off by {pairs}, unrelated columns by {unrelated}: no relation of single values can be read from "
    "this table.",
    "verdict_shares": "Keeps {kept} of the relations between columns, but single columns are off by {ones}, so that "
    "pairs are off by {pairs}: more than unrelated columns whose shares are right ({unrelated}).",
    "verdict_few": "Even single columns are off by {ones}{at}, a fresh sample by {ones_floor}; keeps {kept} of the "
    "relations between columns. More records, a larger epsilon, or fewer columns and bins help.",
    "verdict_few_alone": "Even single columns are off by {ones}{at}, a fresh sample by {ones_floor}. More records, a "
    "larger epsilon, or fewer columns and bins help.",
    "verdict_alone": "There is a single column: it is off by {ones}, a fresh sample by {ones_floor}.",
    "verdict_none": "The {n} real records show no relation between columns beyond chance, so that none can be lost. "
    "Single columns are off by {ones}, a fresh sample by {ones_floor}.",
    "verdict_unclear": "{n} real records are too few to tell relations that are kept from lost ones. Single columns "
    "are off by {ones}, a fresh sample by {ones_floor}.",
    "verdict_at": " at epsilon {epsilon} and {n} records",
    "verdict_moved": "What changed most: {list}.",
    "verdict_pair": "rank correlation of {a} and {b} {real}, here {synthetic}",
    "verdict_ratio": "correlation ratio of {a} and {b} {real}, here {synthetic}",
    "verdict_v": "Cramer's V of {a} and {b} {real}, here {synthetic}",
    "verdict_date": "{column}: mean date {real}, here {synthetic}",
    "verdict_day": "{column}: {real} of the dates on {day}, here {synthetic}",
    "day_mondays": "Mondays",
    "day_tuesdays": "Tuesdays",
    "day_wednesdays": "Wednesdays",
    "day_thursdays": "Thursdays",
    "day_fridays": "Fridays",
    "day_saturdays": "Saturdays",
    "day_sundays": "Sundays",
    "day_month_start": "first days of months",
    "day_month_end": "last days of months",
    "verdict_blank": "{column}: {real} of the cells blank, here {synthetic}",
    "verdict_same": "all records are the same",
    "verdict_fixed": "{column}: {value} in all records, where the real table has {real} values",
    "verdict_fixed_more": "one value each in {count} further columns",
    "verdict_mean": "{column}: mean {real}, here {synthetic}",
    "verdict_group": "mean {column} where {category} is {value}: {real}, here {synthetic}",
    "verdict_share": "{category} = {value}: {real} of the records, here {synthetic}",
    # columns and groups in figures
    "profile_missing": "blank cells",
    "profile_mean": "mean",
    "profile_deviation": "deviation",
    "gaps_none": "Differences between groups are right within chance or, taken together, within a tenth of their "
    "size. The table has every mean.",
    "gaps_pulled": "{column} by {category}: differences between groups are {kept} of their size.",
    "gaps_moved": "{count} of {all} means by group are off by more than in a fresh sample; they come first in the "
    "table.",
    "gaps_lost": "Groups of {least} or more records that no synthetic record has: {groups}.",
    "groups_one": "One group of {column}: off by {error}, a fresh sample by {floor}.",
    "groups_two": "Groups of {column}: the smaller ones ({small}, at most {most} records each) are off by {error} on "
    "average where a fresh sample is off by {floor}; the larger ones ({large}) by {other} where a fresh sample is off "
    "by {other_floor}.",
    "groups_size": "records of the group in the real table",
    "groups_error": "error of the other columns (TVD)",
    "groups_hover": "%{text}: %{x:,.0f} records, off by %{y:.1%}<extra>%{fullData.name}</extra>",
    "groups_alt": "Dots: the error of each group of {column} by its size. {finding}",
    # the map of pairs
    "map_hover": "%{y} x %{x}%{customdata}: %{z:.1%} of the records would have to move<extra></extra>",
    "map_bar": "difference (TVD)",
    "map_finding": "The pair that differs most is {pair}: {tvd}.",
    "map_cut": "{shown} of {all} columns are shown: those that differ most.",
    "map_alt": "Heat map of {count} columns. {finding}",
    # the tables of one pair
    "cell_hover": "%{y}, %{x}: %{customdata:.2%} of the records<extra>%{fullData.name}</extra>",
    "gap_hover": "%{y}, %{x}: %{z:+.2%} of the records<extra></extra>",
    "cell_bar": "share of records",
    "tables_alt": "Heat maps of {a} by {b}: the real table on the left, the synthetic one on the right",
    "gap_alt": "Heat map of synthetic minus real shares of {a} by {b}",
    # one column
    "shares": "share of records",
    "share_hover": "%{x}: %{customdata:.2%} of the records<extra>%{fullData.name}</extra>",
    "density": "share of records for each {width}",
    "column_finding": "{table} differs by {tvd}",
    "column_alt": "Distribution of {finding}",
    # marginals by order
    "moved": "share that would have to move (TVD)",
    "spread_hover": "%{x:.2%}<extra>%{fullData.name}</extra>",
    "floor_hover": "a fresh sample of the real table would score %{x:.2%}<extra></extra>",
    "spread_line": "{order}: {mean} for {table}",
    "spread_finding": "On average, {lines}.",
    "spread_alt": "Box plots of TVD. {lines}.",
    # incomes
    "poorest": "share of people, poorest first",
    "of_income": "share of all {income}",
    "lorenz_hover": "the poorest %{x:.0%} hold %{y:.1%}<extra>%{fullData.name}</extra>",
    "lorenz_side": "{share} in {table}",
    "lorenz_finding": "The poorer half holds {real} of all {income} in the real table, {others}.",
    "lorenz_alt": "Lorenz curves. {finding}",
    "dots_alt": "Dot plot of {title}. {finding}",
    # the user's questions
    "asked_title": "Your questions",
    "asked_unsupported": "synthetic, not supported by this release",
    "asked_alt": "Dot plot of {question}. {finding}",
    "asked_cut": "The {shown} largest of {all} figures are drawn; the table has all of them.",
    "asked_table": "All {count} figures as a table",
    "asked_estimate": "estimate from the release",
    "asked_table_says": "synthetic table, in the schema's bins",
    "asked_interval": "95 % interval",
    "asked_grade": "how the interval was made",
    "asked_to": "to",
    "asked_difference": "Estimates and real figures differ by {amount} on average.",
    "asked_ranks": "Their order agrees at {value} (1: the same order; 0: no order).",
    "grade_exact": "exact",
    "grade_estimated": "estimated",
    "grade_bounded": "bounded",
    "grade_none": "not supported by this release",
    # range queries and records
    "real_share": "real share of records",
    "synthetic_share": "synthetic share of records",
    "query_hover": "%{x:.3%} in the real table, %{y:.3%} here<extra>%{fullData.name}</extra>",
    "query_side": "{table} is off by {error} of the records",
    "query_finding": "{count} random range queries: on average {sides}.",
    "query_alt": "Scatter plot. {finding}",
    "records_alt": "Dots of real and synthetic records by {x} and {y}",
    # released marginals
    "records": "records",
    "released_hover": "%{x}: %{y:,.0f} records<extra>%{fullData.name}</extra>",
    "released_side": "{share} of {table} inside",
    "released_finding": "{name}: 95 % intervals of {half} records to either side; {sides}.",
    "released_alt": "Released counts of {finding}",
    # several runs
    "mean_pairs": "mean difference of pairs (TVD)",
    "run_hover": "%{y}: %{x:.2%}<extra></extra>",
    "runs_finding": "Least error: {name}, {tvd}.",
    # all columns at a glance
    "column": "column",
    "value": "value",
    "table": "table",
    "tvd": "difference",
    "strip_title": "difference (TVD): drag to choose columns",
}
