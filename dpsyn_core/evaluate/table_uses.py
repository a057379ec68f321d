"""What a synthetic table is good for and what not, drawn from the one list of findings. Private."""

from __future__ import annotations

from dataclasses import dataclass

from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings.finding import OF_RECORDS, Finding
from dpsyn_core.evaluate.grades import Verdict
from dpsyn_core.evaluate.group_differences import group_gaps
from dpsyn_core.evaluate.verdicts import ALL_KEPT, NEAR, SMALL, WRONG, verdict

# kinds of "counts" about values inside one column: a mean that is off with them is a finding of its own
INSIDE = ("stretch", "above", "below", "times_hour", "times_month", "high", "top", "bottom")
# uses in the order in which they are named, each with the kinds of findings that speak against it
USES: dict[str, tuple[str, ...]] = {
    "counts": (
        "share", "blank", "blanked", "fixed", "fixed_more", "one_bin", "zeros", "few_records", "date", "day",
        *INSIDE, "all_same", "lacking", "unreadable",
    ),
    "values": ("value",),
    "means": ("mean", "rest"),
    "pairs": ("pair", "pair_within", "ratio", "v", "unrelated"),
    "gaps": ("blank_group", "blank_above", "group", "group_variance", "more_variance", "gaps", "pay_gap"),
    "records": (*OF_RECORDS, "outside", "places", "fractions", "new_numbers", "coarser", "heaps", "repeated"),
    "time": (
        *(f"{kind}_{part}" for kind in ("cycle", "course", "moved") for part in ("hour", "weekday", "month")), "before",
    ),
    "models": ("turned", "weaker", "interaction", "interaction_turned", "explained"),
}  # fmt: skip
LEAST_OF = {"pairs": 0.05}  # one pair of many that weighs less speaks against that pair, not against all
SINGLE = ("values", "records", "time", "models")  # that nothing was found speaks for none of these


@dataclass(frozen=True, kw_only=True, slots=True)
class TableUses:
    """good: uses that nothing speaks against. bad: what something speaks against, gravest first, each with columns.

    The columns are those of the gravest finding, none where a score speaks against the use. A use of which too little
    can be measured is in neither.
    """

    good: tuple[str, ...]
    bad: tuple[tuple[str, tuple[str, ...]], ...]


def uses(c: Comparison) -> TableUses:
    """What the table is good for. Raises MetricError when the real table was not given."""
    whole = verdict(c)
    listed = [(_kind(f, whole), f) for f in whole.findings]
    against = {use: next((f for kind, f in listed if kind in kinds), None) for use, kinds in USES.items()}
    named = {use: f for use, f in against.items() if f is not None and f.weight >= LEAST_OF.get(use, WRONG)}
    good = {use for use in USES if use not in named and use not in SINGLE}
    bad = {use: (f.weight, f.columns) for use, f in named.items()}
    near = whole.ones.value <= SMALL or whole.ones.value <= NEAR * (whole.ones.floor or 0.0)
    if not near:
        bad.setdefault("counts", (whole.ones.value, ()))
    inside = near and "counts" in named and named["counts"].key in INSIDE
    if not c.real_values or ("counts" in bad and not inside):
        good.discard("means")
    kept = whole.relations_kept
    if kept is None or whole.grade in ("unclear", "alone", "none"):
        good.discard("pairs")
    elif kept < ALL_KEPT or not (whole.praises or whole.grade == "kept"):
        bad.setdefault("pairs", (1 - kept, ()))
    if group_gaps(c) is None:
        good.discard("gaps")
    ordered = sorted(bad, key=lambda use: -bad[use][0])
    return TableUses(
        good=() if whole.alarm is not None else tuple(use for use in USES if use in good and use not in bad),
        bad=tuple((use, bad[use][1]) for use in ordered),
    )


def _kind(f: Finding, whole: Verdict) -> str:
    """The kind of a finding; `value` for a share of a column whose other counts are right.

    These are rare values that are gone or new, and values of columns that are as near as in a fresh sample.
    """
    if f.key != "share":
        return f.key
    marginals = whole.ones.details["marginals"]
    at = [names[0] for names in marginals["attributes"]].index(f.columns[0])
    near = marginals["tvd"][at] <= marginals["floor"][at]
    return "value" if near or abs((f.real or 0.0) - (f.synthetic or 0.0)) < WRONG else "share"
