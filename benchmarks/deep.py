"""Deep systems beside rls and PrivBayes: `python -m benchmarks.deep [--tables adult,wide] [--seeds 3] [--epsilons 1]`.

Trains on synthetic records and tests on real ones that no system saw (90/10 split), the mean of logistic regression,
AdaBoost, gradient boosting and XGBoost, as Tables VI and VIII of Takagi et al. 2021 (P3GM) do, at (1, 1e-5); two-way
distance to the records that were synthesized; seconds of one run on this machine. `--epsilons .2,.5,1,2,5,10` gives
the lines of their Figure 4. Credit, ISOLET, ESR and MNIST cannot be had here: the tables `credit-like` (45,000 x 29
numbers, .2 % positive, 15,000 more to test), `isolet-like` (7,020 x 617 numbers), `esr-like` (10,350 x 179 numbers) and
`strokes` (10,800 x 28 x 28 drawn lines) are simulated. Systems that need no noise of their own to be judged, `pgm` and
`vae`, are what a family reaches without any. The row `drawn anew` has the two-way distance of as many records drawn
from the table itself: what the number of records alone costs whoever draws them one by one.

Whoever has the tables of the paper checks its figures on them: `--file creditcard.csv --target Class --without Time
--row credit` (the 29 features that the paper counts), the same with `adult.csv --target income --positive ">50K"`, with
`esr.csv --target y --positive 1`, with `isolet.csv --target class --positive 1,5,9,15,21` (vowels: 19.2 %) and with
`mnist.csv --target label --classifiers cnn`; `--systems "p3gm paper-credit"` has the settings that the paper states.
Columns in which every cell is a number get 32 equal bins between the least and the largest of the file, of which a run
for a private table may know nothing; the others are categories, and one whose words differ in every record, as the
names of records in the file of ESR do, is left out. Where the target has more than two values and none is named as
positive, the mean accuracy stands before AUROC. `cnn` is the network of the paper's Table VII, of which it leaves the
training open: here 5 epochs of Adam on batches of 100.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine import mean_distance
from benchmarks.process import epsilons, runs
from benchmarks.process import table as printed
from benchmarks.tables import NUMBERS, adult_codes
from dpsyn_core.errors import DPSynError, SettingError
from dpsyn_core.evaluate import learning
from dpsyn_core.evaluate.learning import classification
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.unprotected import UnprotectedGate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.deep.network import require_torch
from dpsyn_core.systems.registry import config_class, configure
from dpsyn_core.tables.read import read_table

DELTA = 1e-5
CLASSIFIERS = ("logistic", "adaboost", "gradient-boosting", "xgboost")
CNN = "cnn"
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "rls": ("rls", {}),
    "privbayes": ("privbayes", {}),
    "mst": ("mst", {}),  # the paper calls it Ryan, by its author
    "p3gm": ("p3gm", {}),
    "p3gm one pass": ("p3gm", {"passes": 1}),
    **{
        f"p3gm paper-{row}": ("p3gm", {"preset": f"paper-{row}"})
        for row in ("credit", "adult", "isolet", "esr", "mnist")
    },
    "p3gm-ae": ("p3gm-ae", {}),
    "dp-vae": ("dp-vae", {}),
    "dp-gm": ("dp-gm", {}),
    "dp-gm target": ("dp-gm", {"divide": "target"}),
    "pgm": ("pgm", {"not_private": True}),  # no noise: what the model reaches at any budget
    "vae": ("vae", {"not_private": True}),
}
# Tables VI and VIII of the paper at (1, 1e-5): AUROC, AUPRC, two-way distance; of MNIST Table VII, accuracy
PAPER = {
    "credit": {
        "real": ".9663 .8927", "p3gm": ".8991 .6586 .2411", "dp-gm": ".8805 .3301 .1345",
        "privbayes": ".5520 .2084 .9326", "mst": ".5326 .2503 .0082",
    },
    "esr": {
        "real": ".8698 .8098", "p3gm": ".8801 .7672 .0654", "dp-gm": ".4911 .3311 .6083",
        "privbayes": ".5377 .5419 .8793", "mst": ".5757 .4265 .0936",
    },
    "adult": {
        "real": ".9119 .7844", "p3gm": ".8214 .5972 .3867", "dp-gm": ".7806 .4502 .2672",
        "privbayes": ".8530 .6374 .0752", "mst": ".5048 .2584 .0494",
    },
    "isolet": {
        "real": ".9891 .9623", "p3gm": ".7498 .3950 .3029", "dp-gm": ".4695 .1816 .6855",
        "privbayes": ".5100 .2084 .5324", "mst": ".5326 .2099 .1611",
    },
    "mnist": {"vae": ".8571", "p3gm": ".7940", "dp-gm": ".4973", "privbayes": ".0970", "mst": ".2385"},
}  # fmt: skip


def published(table: str, label: str, row: str = "") -> str:
    """What the paper has for a system; of the table that a stand-in is for, with its name."""
    of = row or table.removesuffix("-like")
    found = PAPER.get(of, {}).get(label.split(" ", maxsplit=1)[0], "")
    return f"{found} ({of})" if found and of != table else found


GOALS = {
    ("adult", "p3gm"): ">= .88 .70, TVD <= .10, <= 15 s",
    ("wide", "p3gm"): ">= .86, rls + .05, <= 5 s",
}


@dataclass(frozen=True, kw_only=True)
class Data:
    """codes: (attributes, records); the last attribute is predicted. numbers: names that models read as numbers."""

    codes: np.ndarray
    test: np.ndarray
    domain: Domain
    numbers: frozenset[str]
    settings: Mapping[str, Any]


def split(codes: np.ndarray, domain: Domain, numbers: frozenset[str], test: float = 0.1, **settings: Any) -> Data:
    order = np.random.default_rng(0).permutation(codes.shape[1])
    cut = int((1 - test) * len(order))
    return Data(
        codes=np.ascontiguousarray(codes[:, order[:cut]]), test=codes[:, order[cut:]], domain=domain, numbers=numbers,
        settings={"target": domain.names[-1]} | settings,
    )  # fmt: skip


def numeric(x: np.ndarray, y: np.ndarray, bins: int, low: float, high: float, **settings: Any) -> Data:
    """Numbers in equal public bins, and a label of two values."""
    step = (high - low) / bins
    codes = np.clip(np.floor((x - low) / step), 0, bins - 1).astype(np.uint8).T
    names = [f"x{i:03d}" for i in range(x.shape[1])]
    attributes = [CodedAttribute(name=n, size=bins, ordered=True, number=True) for n in names]
    domain = Domain((*attributes, CodedAttribute(name="label", size=2)))
    return split(np.concatenate([codes, y[None, :].astype(np.uint8)]), domain, frozenset(names), **settings)


def adult() -> Data:
    found = adult_codes()
    return split(found.codes, found.domain, frozenset(NUMBERS))


def mixed_numbers(
    n: int, d: int, informative: int, positive: float, seed: int, separation: float, bins: int, test: float = 0.1
) -> Data:  # fmt: skip
    """Columns of unit variance; the label depends on many of them a little, the others follow their combinations."""
    from sklearn.datasets import make_classification

    x, y = make_classification(
        n_samples=n, n_features=d, n_informative=informative, n_redundant=informative, weights=[1 - positive],
        class_sep=separation, flip_y=0.01 if positive > 0.01 else 0.0, random_state=seed,
    )  # fmt: skip
    return numeric((x - x.mean(0)) / x.std(0), y, bins, -4.0, 4.0, test=test)  # simulated: its scale is no secret


def strokes(n: int = 12_000) -> Data:
    """28 x 28 pictures of a slanted or an upright line, a little bent; the label says which."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, n)
    slant = np.where(y == 1, rng.normal(0.6, 0.25, n), rng.normal(0.0, 0.25, n))
    grid = np.linspace(-1, 1, 28)
    at = slant[:, None] * grid + rng.normal(0, 0.15, (n, 1)) + rng.normal(0, 0.2, (n, 1)) * grid**2
    near = np.abs(grid[None, None, :] - at[:, :, None]) < rng.uniform(0.08, 0.16, (n, 1, 1))
    codes = np.concatenate([near.reshape(n, -1).T, y[None, :]]).astype(np.uint8)
    names = [f"p{i:03d}" for i in range(784)]
    domain = Domain((*(CodedAttribute(name=p, size=2) for p in names), CodedAttribute(name="label", size=2)))
    return split(codes, domain, frozenset(names))


TABLES: dict[str, Callable[[], Data]] = {
    "adult": adult,
    "wide": lambda: mixed_numbers(18_000, 100, 20, 0.24, 3, 1.0, 32),
    "credit-like": lambda: mixed_numbers(60_000, 29, 12, 0.002, 4, 2.0, 32, 0.25),
    "isolet-like": lambda: mixed_numbers(7_800, 617, 30, 0.19, 6, 1.0, 16),
    "esr-like": lambda: mixed_numbers(11_500, 179, 20, 0.2, 7, 1.2, 16),
    "strokes": strokes,
}


def from_file(
    path: Path, target: str, positive: Sequence[str] = (), bins: int = 32, *, without: Sequence[str] = ()
) -> Data:
    """A table that somebody has; the target is put last. Raises SettingError for a column or a value that is not there.

    positive: values of the target that are told from all others; none keeps its values. without: columns that are left
    out, as those are whose words differ in every record.
    """
    columns = read_table(path)
    for named in (target, *without):
        if named not in columns.column_names:
            msg = f"{path.name} has no column '{named}'; its columns are {', '.join(columns.column_names[:50])}"
            raise SettingError(msg)
    codes, attributes = [], []
    for name in [n for n in columns.column_names if n not in (target, *without)] + [target]:
        texts = columns[name].to_numpy(zero_copy_only=False).astype(str)
        values = as_numbers(texts) if name != target else None
        if values is None:
            found, column = np.unique(texts, return_inverse=True)
            if name != target and len(found) == len(texts):
                continue
            if name == target and positive:
                if lacking := set(positive) - set(found):
                    msg = f"'{target}' has no value {sorted(lacking)}; it has {found[:50].tolist()}"
                    raise SettingError(msg)
                found, column = np.array(["other", "positive"]), np.isin(texts, positive).astype(np.intp)
            attributes.append(CodedAttribute(name=name, size=len(found)))
        else:
            edges = np.linspace(values.min(), values.max(), min(bins, len(np.unique(values))) + 1)[1:-1]
            column = np.searchsorted(edges, values, side="right")
            attributes.append(CodedAttribute(name=name, size=len(edges) + 1, ordered=True, number=True))
        codes.append(column)
    dtype = np.min_scalar_type(max(a.size for a in attributes) - 1)
    numbers = frozenset(a.name for a in attributes if a.ordered)
    return split(np.array(codes, dtype=dtype), Domain(tuple(attributes)), numbers)


def as_numbers(texts: np.ndarray) -> np.ndarray | None:
    """Finite numbers, or None where a cell is something else."""
    try:
        values = texts.astype(np.float64)
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def features(data: Data, codes: np.ndarray) -> np.ndarray:
    columns = [
        codes[i][:, None] / a.size if a.name in data.numbers else np.eye(a.size)[codes[i]]
        for i, a in enumerate(data.domain.attributes[:-1])
    ]
    return np.concatenate(columns, axis=1).astype(np.float32)


class Convolutional:
    """The paper's network for pictures: 28 kernels of 3 x 3, the largest of 2 x 2, 128 units, one output per class.

    Half of the 128 are dropped in the training; of the paper's dropout the share is not stated.
    """

    epochs, batch = 5, 100

    def fit(self, x: np.ndarray, y: np.ndarray) -> Convolutional:
        """x: (records, side * side), y: 0 to classes - 1. Raises SettingError where records are no squares."""
        side = math.isqrt(x.shape[1])
        if side * side != x.shape[1] or side < 4:
            msg = f"records of {x.shape[1]} numbers are no square pictures of 4 x 4 points or more; leave out '{CNN}'"
            raise SettingError(msg)
        require_torch(CNN)
        import torch
        from torch import nn

        torch.manual_seed(0)
        wide = 28 * ((side - 2) // 2) ** 2
        self._net = nn.Sequential(
            nn.Unflatten(1, (1, side, side)),
            nn.Conv2d(1, 28, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(wide, 128),
            nn.ReLU(),
            nn.Dropout(),
            nn.Linear(128, int(y.max()) + 1),
        )
        optimiser = torch.optim.Adam(self._net.parameters())
        pictures, labels = torch.as_tensor(x), torch.as_tensor(y)
        for _ in range(self.epochs):
            for taken in torch.randperm(len(y)).split(self.batch):
                optimiser.zero_grad()
                nn.functional.cross_entropy(self._net(pictures[taken]), labels[taken]).backward()
                optimiser.step()
        return self

    def predict_proba(self, x: np.ndarray) -> np.ndarray:
        """Chances of the classes, (records, classes)."""
        import torch

        self._net.eval()
        with torch.no_grad():
            parts = [self._net(part).softmax(dim=1) for part in torch.as_tensor(x).split(10_000)]
        chances: np.ndarray = torch.cat(parts).double().numpy()
        return chances


def learnt(data: Data, codes: np.ndarray, most: int, classifiers: tuple[str, ...] = CLASSIFIERS) -> tuple[float, float]:
    """AUROC and AUPRC on the records that were left out, the mean of the classifiers."""
    scores = judged(data, codes, most, classifiers)
    return scores["auroc"], scores["auprc"]


def judged(data: Data, codes: np.ndarray, most: int, classifiers: Sequence[str] = CLASSIFIERS) -> dict[str, float]:
    """AUROC, AUPRC, accuracy and F1 on the records that were left out, the mean of the classifiers."""
    x, y = features(data, codes[:, :most]), codes[-1][:most].astype(np.int64)
    x_test, y_test = features(data, data.test), data.test[-1].astype(np.int64)
    scores: list[dict[str, float]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in classifiers:
            model = Convolutional() if name == CNN else learning.classifier(name, 0)
            scores.append(classification(model, x, y, x_test, y_test))
    return {m: float(np.mean([s[m] for s in scores])) for m in scores[0]}


def one(data: Data, name: str, settings: Mapping[str, Any], epsilon: float, seed: int) -> tuple[np.ndarray, float]:
    """Synthetic codes and seconds of one run, with the noise of production."""
    cls = config_class(name)
    guarantee = cls.guarantee
    known = {k: v for k, v in (dict(data.settings) | dict(settings)).items() if k in cls.model_fields}
    task = Task(
        domain=data.domain, unit=Unit(neighbours=guarantee.neighbours[0]),
        budget=Budget(epsilon=epsilon, delta=DELTA if guarantee.approximate else 0.0),
        n_public=data.codes.shape[1] if guarantee.needs_public_n else None,
    )  # fmt: skip
    start = time.process_time()
    system = configure(name, known).calibrate(task)
    opened = UnprotectedGate if cls.unprotected else Gate
    gate = opened(account=Account(system.cost, delta=system.failure), noise=SystemNoise(), unit=task.unit)
    measured = system.measure(MemoryCounter(data.codes, data.domain), gate=gate)
    out = system.synthesize(measured, data.codes.shape[1], rng=np.random.default_rng(seed))
    return out, time.process_time() - start


def shown(scores: Sequence[Mapping[str, float]], data: Data) -> list[str]:
    """AUROC and AUPRC of runs, mean and half the range; accuracy first where there are more than two classes."""
    out = []
    for measure in ("auroc", "auprc"):
        each = [s[measure] for s in scores]
        out.append(f"{np.mean(each):.4f}" + (f" +- {np.ptp(each) / 2:.4f}" if len(each) > 1 else ""))
    if data.domain.attributes[-1].size > 2:
        out[0] = f"accuracy {np.mean([s['accuracy'] for s in scores]):.4f}, {out[0]}"
    return out


def row(data: Data, table: str, label: str, epsilon: float, given: argparse.Namespace) -> list[str]:
    name, settings = SYSTEMS[label]
    head = [table, label, f"{epsilon:g}"]
    tail = [published(table, label, given.row), GOALS.get((table, label), "")]
    scores, rest = [], []
    try:
        for seed in range(given.seeds):
            codes, seconds = one(data, name, settings, epsilon, seed)
            scores.append(judged(data, codes, given.most, given.classifiers.split(",")))
            rest.append((mean_distance(data.codes, codes, data.domain), seconds))
    except DPSynError as refusal:
        return [*head, f"refused: {refusal}", "", "", "", *tail]
    distance, seconds = np.mean(rest, axis=0)[0], np.median([s for _, s in rest])
    return [*head, *shown(scores, data), f"{distance:.4f}", f"{seconds:.1f}", *tail]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default="adult,wide", help=f"of {', '.join(TABLES)}")
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--epsilons", default="1", type=epsilons)
    parser.add_argument("--seeds", type=runs, default=3)
    parser.add_argument("--classifiers", default=",".join(CLASSIFIERS), help=f"those, or '{CNN}' for square pictures")
    parser.add_argument("--most", type=int, default=50_000, help="records that classifiers are trained on")
    parser.add_argument("--file", type=Path, help="CSV or Parquet, in place of --tables")
    parser.add_argument("--target", default="", help="with --file: the column to predict")
    parser.add_argument(
        "--positive", default="", help="with --file: its positive values, such as '1,5'; the others are one"
    )
    parser.add_argument("--without", default="", help="with --file: columns to leave out, such as 'Time'")
    parser.add_argument(
        "--row", default="", choices=["", *PAPER], help="with --file: which of the paper's tables it is"
    )
    given = parser.parse_args()
    if bool(given.file) != bool(given.target):
        parser.error("--file and --target go together")
    if not given.file and (given.positive or given.without or given.row):
        parser.error("--positive, --without and --row need --file")
    known = {"tables": (*TABLES,), "systems": (*SYSTEMS,), "classifiers": (*CLASSIFIERS, CNN)}
    for option, allowed in known.items():
        if unknown := [n for n in getattr(given, option).split(",") if n not in allowed]:
            parser.error(f"--{option} has '{unknown[0]}'; it takes {', '.join(allowed)}")
    try:
        compare(given)
    except DPSynError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


def compare(given: argparse.Namespace) -> None:
    """Prints a row as soon as it is there, and the table at the end. Raises DPSynError for a file that does not fit."""
    tables = {t: TABLES[t] for t in given.tables.split(",")}
    if given.file:
        positive, without = ([v for v in text.split(",") if v] for text in (given.positive, given.without))
        tables = {given.file.stem: lambda: from_file(given.file, given.target, positive, without=without)}
    rows = []
    for table, made in tables.items():
        data = made()
        if "rls" in given.systems.split(","):
            one(data, "rls", {}, 1.0, 0)  # compiles
        real = shown([judged(data, data.codes, given.most, given.classifiers.split(","))], data)
        rows.append([table, "real", "", *real, "", "", published(table, "real", given.row), ""])
        print(" | ".join(rows[-1]), flush=True)
        n = data.codes.shape[1]
        anew = mean_distance(data.codes, data.codes[:, np.random.default_rng(0).integers(0, n, n)], data.domain)
        rows.append([table, "drawn anew", "", "", "", f"{anew:.4f}", "", "", ""])
        for label in given.systems.split(","):
            for epsilon in given.epsilons:
                rows.append(row(data, table, label, epsilon, given))
                print(" | ".join(rows[-1]), flush=True)
    print()
    print(printed(["table", "system", "epsilon", "AUROC", "AUPRC", "TVD", "seconds", "published", "goal"], rows))


if __name__ == "__main__":
    main()
