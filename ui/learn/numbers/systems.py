"""What labs 9, 14, 18 and 20 ask of the bundled sample: its pay gap, and errors of systems by budget and by group.

The runs were made by `python -m benchmarks.lessons`; nothing is computed from records here.
Source: Ganev, Oprisanu, De Cristofaro 2022, and Bagdasaryan, Poursaeed, Shmatikov 2019, on who bears the error.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOT_APPLICABLE = 999_998  # the sample's code for those who are too young to be asked for a wage
Floats = NDArray[np.float64]
SYSTEMS = ("rls", "dpsyn", "mst", "privbayes", "independent")
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the runs
METRICS = ("tvd-1way", "tvd-2way", "tvd-3way", "gap")
ERRORS = ("count", "within")
FRESH = "sample"  # a fresh sample of the same people, without any noise
CLASSES = ((1, 9), (10, 49), (50, 199), (200, 999), (1000, 10**9))  # sizes of groups


def pay_gap(table: Any) -> float:
    """Mean yearly wage of men less that of women, among wage earners, in dollars; of a pyarrow table."""
    import pandas as pd  # heavy

    frame = table.select(["SEX", "INCWAGE"]).to_pandas()
    wage = pd.to_numeric(frame["INCWAGE"])
    paid = (wage > 0) & (wage < NOT_APPLICABLE)
    means = wage[paid].groupby(frame["SEX"][paid]).mean()
    return float(means.get("Male", np.nan) - means.get("Female", np.nan))


@cache
def results(name: str) -> dict[str, Any]:
    """A file that `python -m benchmarks.lessons` wrote: 'systems' or 'membership'."""
    found: dict[str, Any] = json.loads((Path(__file__).parent / "results" / f"{name}.json").read_bytes())
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """One system's error at each budget. middle: mean over repeats; low, high: their extremes; all (budgets,)."""

    epsilons: Floats
    middle: Floats
    low: Floats
    high: Floats


def curve(system: str, metric: str) -> Curve:
    """The error of a system against epsilon."""
    found = results("systems")
    epsilons, runs = (np.asarray(x, dtype=np.float64) for x in (found["epsilons"], found["metrics"][system][metric]))
    return Curve(epsilons=epsilons, middle=runs.mean(axis=1), low=runs.min(axis=1), high=runs.max(axis=1))


def fresh(metric: str) -> float:
    """What a fresh sample of the same people would be off by, on average."""
    return float(np.mean(results("systems")["metrics"][FRESH][metric]))


def epsilon_for(system: str, metric: str, error: float) -> float | None:
    """The budget at which the curve falls to this error, between measured ones along straight lines in logarithms.

    None when it stays above; the smallest measured budget when it begins below.
    """
    line = curve(system, metric)
    if line.middle[0] <= error:
        return float(line.epsilons[0])
    for i in range(1, len(line.epsilons)):
        if line.middle[i] <= error:
            x, y = np.log(line.epsilons[i - 1 : i + 1]), np.log(line.middle[i - 1 : i + 1])
            return float(np.exp(x[0] + (np.log(error) - y[0]) / (y[1] - y[0]) * (x[1] - x[0])))
    return None


def groups() -> tuple[list[str], Floats]:
    """Names of the groups (race, city) and how many people each has."""
    found = results("systems")["groups"]
    return [str(g["name"]) for g in found], np.array([g["size"] for g in found], dtype=np.float64)


def group_errors(system: str, epsilon: float, what: str) -> Floats:
    """Mean error of every group over the repeats; (groups,).

    count: how far its number of people is off, as a share of them. within: how far its occupations are off, as a
    total variation distance; 1 for a group that has vanished.
    """
    found = results("systems")
    place = 0 if system == FRESH else list(found["epsilons"]).index(epsilon)
    return np.asarray(found["errors"][system][what][place], dtype=np.float64)


def by_class(system: str, epsilon: float, what: str) -> Floats:
    """Median error of the groups of each size in CLASSES; (classes,)."""
    _, sizes = groups()
    errors = group_errors(system, epsilon, what)
    return np.array([float(np.median(errors[(sizes >= low) & (sizes <= high)])) for low, high in CLASSES])
