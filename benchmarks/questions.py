"""What declared questions buy: `python -m benchmarks.questions [--parts sample,adult,predict,wide] [--seeds 10]`.

The same run with and without questions, at the default share, medians over seeds; noise is that of production.
sample: rank agreement (Spearman) with the truth and mean error of gaps, means and Gini indices of INCWAGE by CITY, and
the mean distance of all pairs. adult: twenty three-way tables that were drawn once, their mean distance and that of
all pairs. predict: AUROC on a tenth of Adult that no run saw, of models trained on synthetic records, when income is
declared as the target. wide: the same for 18,000 records of 100 numbers (benchmarks/numbers.py). Prints Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.engine import mean_distance
from benchmarks.process import table as markdown
from benchmarks.tables import Table, adult_codes
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.evaluation import evaluate
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.sample import sample_schema, sample_table
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure

DELTA = 1e-9
FORMS: dict[str, dict[str, Any]] = {
    "gap": {"kind": "gap", "of": "INCWAGE", "by": ["CITY"], "between": {"SEX": ["Male", "Female"]}},
    "mean": {"kind": "mean", "of": "INCWAGE", "by": ["CITY"]},
    "gini": {"kind": "gini", "of": "INCWAGE", "by": ["CITY"]},
}
MODELS = ("logistic", "adaboost", "gradient-boosting", "xgboost")


def made(
    codes: np.ndarray, schema: Schema, asked: Questions, *, epsilon: float, delta: float = DELTA, seed: int,
    share: float | None = None, method: str = "rls",
) -> np.ndarray:  # fmt: skip
    """Synthetic codes of one run."""
    budget = Budget(epsilon=epsilon, delta=delta)
    task = Task.of(schema, budget, questions=asked, questions_share=share)
    system = configure(method, {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, task.domain), gate=gate)
    return system.synthesize(measured, None, rng=np.random.default_rng(seed))


def named(documents: Iterable[dict[str, Any]], schema: Schema) -> Questions:
    listed = [{"name": f"question {i + 1}"} | d for i, d in enumerate(documents)]
    return Questions.of(listed).checked(schema)


def incomes(table: Any) -> dict[str, np.ndarray]:
    """Decoded incomes, NaN where there is none."""
    column = table.column("INCWAGE").to_pylist()
    return {"INCWAGE": np.array([np.nan if v in (None, "") else float(v) for v in column])}


def sample_rows(epsilons: Sequence[float], seeds: int, share: float | None) -> list[list[object]]:
    from scipy.stats import spearmanr

    schema, table = sample_schema(), sample_table()
    codec = Codec(schema)
    codes, real = codec.encode(table).codes, incomes(table)
    asked = {name: named([form], schema) for name, form in FORMS.items()}
    truth = {k: evaluate(q.questions[0], codes, schema, values=real).values for k, q in asked.items()}
    out: list[list[object]] = []
    for epsilon in epsilons:
        base = 0.0
        for told in ("nothing", *FORMS, "all three"):
            given = named([], schema) if told == "nothing" else asked.get(told) or named(FORMS.values(), schema)
            runs = []
            for seed in range(seeds):
                got = made(codes, schema, given, epsilon=epsilon, seed=seed, share=share)
                values = incomes(codec.decode(got, rng=np.random.default_rng(seed)))
                row = [mean_distance(codes, got, schema.domain())]
                for name, q in asked.items():
                    answer = evaluate(q.questions[0], got, schema, values=values).values
                    row += [float(spearmanr(truth[name], answer).statistic), float(np.abs(truth[name] - answer).mean())]
                runs.append(row)
            middle = np.median(np.array(runs), axis=0)
            base = middle[0] if told == "nothing" else base
            figures = [f"{v:.2f}" if i % 2 == 0 else f"{v:.3g}" for i, v in enumerate(middle[1:])]
            out.append([f"{epsilon:g}", told, *figures, f"{middle[0]:.4f}", f"{middle[0] / base:.2f}"])
    return out


def adult_triples(count: int = 20) -> list[tuple[str, ...]]:
    sets = adult_codes().domain.subsets(3)
    return [sets[i] for i in sorted(np.random.default_rng(0).choice(len(sets), count, replace=False))]


def adult_rows(epsilons: Sequence[float], seeds: int, share: float | None) -> list[list[object]]:
    data = adult_codes()
    schema = _schema(data)
    sets = adult_triples()
    asked = named([{"kind": "table", "of": list(s)} for s in sets], schema)
    out: list[list[object]] = []
    for epsilon in epsilons:
        found = []
        for given in (named([], schema), asked):
            runs = []
            for seed in range(seeds):
                got = made(data.codes, schema, given, epsilon=epsilon, seed=seed, share=share)
                runs.append([distance(data, got, sets), mean_distance(data.codes, got, data.domain)])
            found.append(np.median(np.array(runs), axis=0))
        triples, pairs = found[1] / found[0]
        out.append([f"{epsilon:g}", *(f"{v:.4f}" for v in (*found[0], *found[1])), f"{triples:.2f}", f"{pairs:.2f}"])
    return out


def wide(n: int = 20_000, numbers: int = 100) -> Table:
    """100 numbers, a fifth of them informative, and a label that holds for 24 % of the records; bins are public."""
    from sklearn.datasets import make_classification

    x, y = make_classification(
        n_samples=n, n_features=numbers, n_informative=numbers // 5, n_redundant=0, weights=[0.76], class_sep=0.8,
        random_state=0,
    )  # fmt: skip
    bins = {"kind": "numeric", "dtype": "float", "min": -16, "max": 16, "bins": {"count": 64}}
    attributes = [{"name": f"x{i:02d}", **bins} for i in range(numbers)]
    attributes.append({"name": "label", "kind": "categorical", "values": [0, 1]})
    schema = Schema.of({"version": 1, "name": "wide numbers", "attributes": attributes})
    columns = {f"x{i:02d}": x[:, i] for i in range(numbers)} | {"label": y}
    import pyarrow as pa

    table = pa.table(columns)
    codes = Codec(schema).encode(table).codes
    return Table(name=schema.name, codes=codes, domain=schema.domain(), table=table, schema=schema)


def distance(data: Table, got: np.ndarray, sets: Sequence[tuple[str, ...]]) -> float:
    """Mean total variation distance of the given tables at full resolution."""
    a, b = (MemoryCounter(c, data.domain).marginals(sets) for c in (data.codes, got))
    n, m = data.codes.shape[1], max(got.shape[1], 1)
    return float(np.mean([np.abs(x / n - y / m).sum() / 2 for x, y in zip(a, b, strict=True)]))


def predict_rows(
    data: Table, target: str, epsilons: Sequence[float], seeds: int, share: float | None
) -> list[list[object]]:
    """AUROC with delta 1e-5, on a tenth of the records that no run saw."""
    schema = _schema(data)
    order = np.random.default_rng(0).permutation(data.codes.shape[1])
    cut = len(order) // 10
    train, test = data.codes[:, order[cut:]], data.codes[:, order[:cut]]
    asked = named([{"kind": "predict", "of": target}], schema)
    out: list[list[object]] = []
    real = auroc(data, target, train, train, test)
    for epsilon in epsilons:
        for told, given in (("nothing", named([], schema)), ("the target", asked)):
            scores = []
            for seed in range(seeds):
                got = made(train, schema, given, epsilon=epsilon, delta=1e-5, seed=seed, share=share)
                scores.append(auroc(data, target, got, train, test))
            out.append([data.name, f"{epsilon:g}", told, f"{np.median(scores):.3f}", f"{real:.3f}"])
    return out


def auroc(data: Table, target: str, rows: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """Mean AUROC of the models that are installed, trained on `rows`."""
    from dpsyn_core.errors import MetricError
    from dpsyn_core.evaluate.comparison import Comparison, Roles
    from dpsyn_core.evaluate.learning import Learning

    scores = []
    for model in MODELS:
        c = Comparison(domain=data.domain, real=train, synthetic=rows, held_out=test, roles=Roles(target=target))
        try:
            scores.append(Learning(which=(model,)).compute(c).value)
        except MetricError as refusal:
            if "package" not in str(refusal):
                raise
    return float(np.mean(scores))


def _schema(data: Table) -> Schema:
    if data.schema is None:
        msg = f"the table {data.name} has no schema"
        raise SystemExit(msg)
    return data.schema


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="sample,adult,predict", help="comma-separated: sample, adult, predict, wide")
    parser.add_argument("--epsilons", default="1,3")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--share", type=float, help="of what pairs would get; default as in a run")
    given = parser.parse_args()
    epsilons = [float(e) for e in given.epsilons.split(",")]
    parts = given.parts.split(",")
    if "sample" in parts:
        heads = ["epsilon", "declared", *(f"{w} of {f}s" for f in FORMS for w in ("rank", "error")), "pairs", "ratio"]
        print(markdown(heads, sample_rows(epsilons, given.seeds, given.share)), flush=True)
    if "adult" in parts:
        heads = [
            "epsilon",
            "tables, undeclared",
            "pairs",
            "tables, declared",
            "pairs",
            "ratio of tables",
            "ratio of pairs",
        ]
        print(markdown(heads, adult_rows(epsilons, given.seeds, given.share)), flush=True)
    heads = ["table", "epsilon", "declared", "AUROC", "trained on real records"]
    for part, target in (("predict", "income>50K"), ("wide", "label")):
        if part in parts:
            data = adult_codes() if part == "predict" else wide()
            print(markdown(heads, predict_rows(data, target, epsilons[:1], given.seeds, given.share)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
