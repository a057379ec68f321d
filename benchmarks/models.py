"""Models as questions: coefficients of declared regressions, their signs, and how often their intervals hold.

`python -m benchmarks.models [--epsilons .3,1,3] [--repeats 8] [--records 8000] [--ways sum,table,none]`

Two tables whose truth is known. Patients: a treatment that helps goes to those who are worst, so that it seems to harm;
the risk is U-shaped in a number, and the treatment does less for some. Pay: a gap, a premium that depends on age, and
an interaction, with skewed residuals. Each repeat draws another table of the same law and makes one release (delta
1e-9). `sum`: the model is declared, as a run does it; `table`: declared, with tables of its columns in place of sums;
`none`: not declared. Errors are in standard errors of the real table's own fit, so that a fresh sample has 1.41.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from dpsyn_core import Schema, synthesize
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.questions import compile as compiling
from dpsyn_core.questions.answers.intervals import Truth
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.forms import RegressionQuestion
from dpsyn_core.questions.regress import design, fit_linear, fit_logistic
from dpsyn_core.report.answers import answer_codes
from dpsyn_core.schema.codec import Codec

DELTA = 1e-9
CLEAR = 2.0  # standard errors from 0, of a coefficient whose sign counts


def patients(n: int, seed: int) -> pd.DataFrame:
    """People in a hospital."""
    r = np.random.default_rng(seed)
    age = np.clip(r.normal(64, 15, n), 20, 98).astype(int)
    severity = np.clip(np.round(2.6 + 0.02 * (age - 64) + r.normal(0, 1, n)), 1, 5).astype(int)
    diabetes = (r.random(n) < 1 / (1 + np.exp(2 - 0.02 * (age - 60)))).astype(int)
    crp = np.round(np.clip(np.exp(2.2 + 0.45 * (severity - 3) + r.normal(0, 1, n)), 0.1, 400), 1)
    potassium = np.round(np.clip(r.normal(4.2 + 0.15 * (severity - 3), 0.6, n), 2, 8), 1)
    treated = (r.random(n) < 1 / (1 + np.exp(1.4 - 0.9 * (severity - 3) - 0.4 * np.log(crp)))).astype(int)
    risk = -4.2 + 0.045 * (age - 64) + 0.55 * np.log(crp) + 0.6 * (severity - 3) - 0.8 * treated
    risk += 0.3 * diabetes + 0.6 * treated * diabetes + 0.7 * (potassium - 4.2) ** 2
    return pd.DataFrame(
        {
            "age": age,
            "sex": r.choice(["f", "m"], n),
            "diabetes": diabetes,
            "smoker": r.choice(["never", "former", "current"], n, p=[0.5, 0.3, 0.2]),
            "severity": severity,
            "crp": crp,
            "potassium": potassium,
            "ward": np.where(r.random(n) < 0.1 + 0.2 * (severity > 3), "icu", r.choice(["a", "b", "c"], n)),
            "bmi": np.round(np.clip(r.normal(27 + 2 * diabetes, 4.5, n), 15, 50), 1),
            "pressure": np.clip(r.normal(135 + 0.3 * (age - 64) - 4 * (severity - 3), 18, n), 70, 220).astype(int),
            "treated": treated,
            "died": (r.random(n) < 1 / (1 + np.exp(-risk))).astype(int),
        }
    )


def pay(n: int, seed: int) -> pd.DataFrame:
    """People in a firm."""
    r = np.random.default_rng(seed)
    age = r.integers(18, 66, n)
    school = np.where(r.random(n) < 0.3, "degree", r.choice(["none", "trade"], n))
    sex = r.choice(["f", "m"], n)
    hours = np.clip(np.round(r.normal(36 + 4 * (sex == "m"), 8, n)), 5, 70).astype(int)
    wage = 14 + 0.35 * (age - 18) - 0.004 * (age - 18) ** 2 + 9 * (school == "degree") + 2 * (sex == "m")
    wage += 3 * ((sex == "m") & (school == "degree")) + r.gamma(2.0, 3.0, n) - 6
    return pd.DataFrame(
        {
            "age": age,
            "school": school,
            "sex": sex,
            "hours": hours,
            "site": r.choice(list("uvwxyz"), n),
            "tenure": np.minimum(r.geometric(0.15, n), age - 17),
            "wage": np.clip(np.round(wage, 1), 0, 90),
        }
    )


def _listed(name: str, values: list[object]) -> dict[str, object]:
    return {"name": name, "kind": "categorical", "values": values, "missing": False}


def _number(name: str, low: float, high: float, bins: int, *, whole: bool = True) -> dict[str, object]:
    dtype = "integer" if whole else "float"
    out = {"name": name, "kind": "numeric", "dtype": dtype, "min": low, "max": high, "bins": {"count": bins}}
    return out | {"missing": False} | ({} if whole else {"decimals": 1})


TABLES: dict[str, tuple[Callable[[int, int], pd.DataFrame], list[dict[str, object]], dict[str, object]]] = {
    "patients": (
        patients,
        [
            _number("age", 18, 100, 83),
            _listed("sex", ["f", "m"]),
            _listed("diabetes", [0, 1]),
            _listed("smoker", ["never", "former", "current"]),
            _listed("severity", [1, 2, 3, 4, 5]),
            _number("crp", 0, 400, 400, whole=False),
            _number("potassium", 2, 8, 60, whole=False),
            _listed("ward", ["a", "b", "c", "icu"]),
            _number("bmi", 15, 50, 70, whole=False),
            _number("pressure", 70, 220, 151),
            _listed("treated", [0, 1]),
            _listed("died", [0, 1]),
        ],
        {
            "model": "logistic",
            "formula": "died ~ treated*diabetes + age + log(crp) + severity + square(potassium) + potassium",
        },
    ),
    "pay": (
        pay,
        [
            _number("age", 18, 65, 48),
            _listed("school", ["none", "trade", "degree"]),
            _listed("sex", ["f", "m"]),
            _number("hours", 5, 70, 66),
            _listed("site", list("uvwxyz")),
            _number("tenure", 1, 48, 48),
            _number("wage", 0, 90, 180, whole=False),
        ],
        {"formula": "wage ~ age + square(age) + sex*school + log(hours)"},
    ),
}


def main() -> None:
    """Prints one line a table, epsilon and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilons", default=".3,1,3")
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--records", type=int, default=8000)
    parser.add_argument("--ways", default="sum,table,none")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--first", type=int, default=0, help="number of the first repeat")
    given = parser.parse_args()
    print(
        "table, epsilon, way: wrong signs of clear coefficients; root mean square error; covered (real table, people)"
    )
    for name in given.tables.split(","):
        for epsilon in (float(e) for e in given.epsilons.split(",")):
            for way in given.ways.split(","):
                seeds = range(given.first, given.first + given.repeats)
                print(f"{name}, {epsilon:g}, {way}: {summary(name, epsilon, way, given.records, seeds)}", flush=True)


def summary(name: str, epsilon: float, way: str, records: int, seeds: range) -> str:
    """The figures of one table, epsilon and way over some releases."""
    draw, columns, model = TABLES[name]
    schema = Schema.of({"version": 1, "name": name, "attributes": columns})
    asked = Questions.of([{"name": "model", "kind": "regression", **model}]).checked(schema)
    _, truth, _ = _fit(asked, _codes(draw(200_000, 10_000), schema), schema)
    wrong, clear, errors, inside, people = 0, 0, list[float](), list[bool](), list[bool]()
    for seed in seeds:
        table = draw(records, seed)
        terms, beta, error = _fit(asked, _codes(table, schema), schema)
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(compiling, "MOST_SUMMED", 0 if way == "table" else compiling.MOST_SUMMED),
        ):
            made = synthesize(
                table, schema, epsilon=epsilon, delta=DELTA, rng=seed, ledger=Ledger(Path(folder) / "l.db"),
                questions=None if way == "none" else asked,
            )  # fmt: skip
        codes = _codes(made.table.to_pandas() if hasattr(made.table, "to_pandas") else made.table, schema)
        _, found, _ = _fit(asked, codes, schema)
        slope = np.array([t != "intercept" for t in terms])
        sure = slope & (np.abs(beta) > CLEAR * error)
        clear += int(sure.sum())
        wrong += int((np.sign(found[sure]) != np.sign(beta[sure])).sum())
        errors += [*((found - beta) / error)[slope]]
        kinds: tuple[tuple[Truth, np.ndarray, list[bool]], ...]
        kinds = (("table", beta, inside), ("population", truth, people))
        for kind, target, into in kinds:
            got = answer_codes(
                codes, made.released, schema, made.manifest, asked, scores=made.released.scores, truth=kind
            )[0]
            known = slope & ~np.isnan(got.low)
            into += [*((got.low <= target) & (target <= got.high))[known]]
    size = math.sqrt(float(np.nanmean(np.square(errors))))
    return f"{wrong} of {clear}; {size:.2f}; {_share(inside, len(errors))}, {_share(people, len(errors))}"


def _share(held: list[bool], all_of: int) -> str:
    return f"{np.mean(held):.3f} of {len(held)} ({all_of - len(held)} not given)" if held else "none given"


def _codes(table: pd.DataFrame, schema: Schema) -> np.ndarray:
    import pyarrow as pa

    return Codec(schema).encode(pa.Table.from_pandas(table.astype(str), preserve_index=False)).codes


def _fit(asked: Questions, codes: np.ndarray, schema: Schema) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    from dpsyn_core.questions.meaning import numbers_of

    question = asked.questions[0]
    if not isinstance(question, RegressionQuestion):
        raise TypeError(question.kind)
    columns = dict(zip(schema.domain().names, codes, strict=True))
    made = design(
        question, columns, schema, numbers=lambda n: numbers_of(schema[n])[columns[n]], weights=np.ones(codes.shape[1])
    )
    beta, covariance = (fit_logistic if question.model == "logistic" else fit_linear)(made)
    return made.terms, beta, np.sqrt(np.diag(covariance))


if __name__ == "__main__":
    main()
