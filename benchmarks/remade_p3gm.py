"""Figures and tables of P3GM, computed anew: `python -m benchmarks.remade_p3gm [--only accounting] [--seeds 3]`.

Prints the tables of docs/evidence/remade/p3gm.md; `--only samples` and `--only drawn` write its figures, the latter
from the table that stands on the page. Tables VI and VIII come from `benchmarks.deep`, whose tables and classifiers
are used here too. ISOLET, ESR, Credit and MNIST cannot be had: simulated tables stand for them. All private runs are at
(epsilon, 1e-5).
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar
from unittest import mock

import numpy as np

from benchmarks.deep import CLASSIFIERS, DELTA, TABLES, Data, judged, learnt, numeric, one
from benchmarks.plot import svg_lines, svg_pictures
from benchmarks.process import table
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.p3gm import Phases
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.deep import training
from dpsyn_core.systems.registry import configure
from tests.systems.deep.test_o18 import FLAGS, SIGMA_P, STATED, enough
from tests.systems.deep.test_o18 import epsilon as by_theorem_4

PAGE = Path(__file__).resolve().parent.parent / "docs" / "evidence" / "remade" / "p3gm.md"
PANELS = ("vae", "dp-vae", "dp-gm", "p3gm")  # (b) to (e) of Figure 2; (a) are real ones
SHOWN = 12  # pictures of a panel
MOST = 15_000  # records that the classifiers are trained on


def gaussians(dimensions: int, apart: float) -> Data:
    """12,000 records of two unit Gaussians whose means lie this far apart, evenly in all dimensions; the label says
    which."""
    rng = np.random.default_rng(dimensions)
    y = rng.integers(0, 2, 12_000)
    x = rng.normal(0.0, 1.0, (len(y), dimensions)) + apart / math.sqrt(dimensions) * (y[:, None] - 0.5)
    return numeric(x, y, 32, -5.0, 5.0)


def published_apart(dimensions: int) -> float:
    """Between means of ones and of minus ones, as section VI-D of the paper has them."""
    return 2.0 * math.sqrt(dimensions)


def best_auroc(apart: float) -> float:
    """Of the rule that knows both Gaussians."""
    return NormalDist().cdf(apart / math.sqrt(2.0))


def mean_of(data: Data, settings: Mapping[str, Any], seeds: int, *, system: str = "p3gm") -> tuple[float, float]:
    """AUROC and AUPRC at epsilon 1, the mean of the seeds and of the four classifiers."""
    found = [learnt(data, one(data, system, settings, 1.0, s)[0], MOST) for s in range(seeds)]
    auroc, auprc = np.mean(found, axis=0)
    return float(auroc), float(auprc)


def classifiers(seeds: int) -> str:
    """Table V: every classifier by itself, on the stand-in for Credit; VAE and PGM without privacy, and ours."""
    data, rows = TABLES["credit-like"](), []
    made = {
        s: [one(data, s, {"not_private": True}, 1.0, k)[0] for k in range(seeds)] for s in ("vae", "pgm", "p3gm", "rls")
    }
    for name in CLASSIFIERS:
        real = learnt(data, data.codes, 45_000, (name,))
        means = [np.mean([learnt(data, c, 45_000, (name,)) for c in codes], axis=0) for codes in made.values()]
        rows.append([name, *(f"{v[0]:.3f} / {v[1]:.3f}" for v in (real, *means))])
    return table(["classifier", "real, AUROC / AUPRC", *made], rows)


def pictures(seeds: int) -> str:
    """Table VII: does a classifier that saw only synthetic pictures tell real ones apart?"""
    data, rows = TABLES["strokes"](), []
    only = ("logistic",)
    rows.append(["real", *(f"{v:.3f}" for v in learnt(data, data.codes, MOST, only))])
    for system in ("p3gm", "rls"):
        found = [learnt(data, one(data, system, {}, 1.0, s)[0], MOST, only) for s in range(seeds)]
        rows.append([system, *(f"{v:.3f}" for v in np.mean(found, axis=0))])
    return table(["learnt from", "AUROC", "AUPRC"], rows)


def components(seeds: int) -> str:
    """AUROC and AUPRC by the number of components."""
    rows = []
    for name in ("adult", "wide"):
        data = TABLES[name]()
        for number in (1, 2, 5, 10, 20, 50):
            auroc, auprc = mean_of(data, {"components": number}, seeds)
            rows.append([name, number, f"{auroc:.3f}", f"{auprc:.3f}"])
    return table(["table", "components", "AUROC", "AUPRC"], rows)


def two_gaussians(seeds: int) -> str:
    """Figure 6, two Gaussians in 5 to 100 dimensions: as published, and 2 apart in any number of dimensions."""
    return "\n\n".join(_by_dimension(seeds, apart) for apart in (published_apart, lambda _dimensions: 2.0))


def _by_dimension(seeds: int, apart: Callable[[int], float]) -> str:
    rows = []
    for dimensions in (5, 10, 20, 50, 100):
        data = gaussians(dimensions, apart(dimensions))
        cells = [f"{best_auroc(apart(dimensions)):.4f}", f"{learnt(data, data.codes, MOST)[0]:.3f}"]
        cells += [f"{mean_of(data, {}, seeds, system=s)[0]:.3f}" for s in ("p3gm", "dp-vae", "rls")]
        rows.append([dimensions, *cells])
    return table(["dimensions", "best", "real", "p3gm", "dp-vae", "rls"], rows)


def allocation(seeds: int) -> str:
    """AUROC on Adult by the share of the budget that the first phase gets."""
    data, rows = TABLES["adult"](), []
    for part in (0.02, 0.05, 0.1, 0.2, 0.3, 0.4):
        # as the defaults: the mixture has three tenths of what the components have
        auroc, auprc = mean_of(data, {"components_share": part, "mixture_share": 0.3 * part}, seeds)
        rows.append([f"{1.3 * part:.3f}", f"{auroc:.3f}", f"{auprc:.3f}"])
    return table(["share of the first phase", "AUROC", "AUPRC"], rows)


def epsilons(seeds: int) -> str:
    """Figure 4: AUROC and AUPRC on Adult by epsilon, for three systems."""
    data, rows = TABLES["adult"](), []
    for epsilon in (0.2, 0.5, 1.0, 2.0, 5.0, 10.0):
        cells = []
        for system in ("p3gm", "dp-gm", "privbayes"):
            found = [learnt(data, one(data, system, {}, epsilon, s)[0], MOST) for s in range(seeds)]
            cells.append(" / ".join(f"{v:.3f}" for v in np.mean(found, axis=0)))
        rows.append([f"{epsilon:g}", *cells])
    return table(["epsilon", "p3gm, AUROC / AUPRC", "dp-gm", "privbayes"], rows)


def samples(seeds: int) -> str:
    """Figure 2: pictures that are real, and those of a system without privacy and of three with it at epsilon 1."""
    del seeds  # one run each
    data = TABLES["strokes"]()
    side = math.isqrt(len(data.codes) - 1)
    rows = {"(a) real": data.codes}
    for letter, system in zip("bcde", PANELS, strict=True):
        settings = {"not_private": True} if system == "vae" else {}
        rows[f"({letter}) {system}"] = one(data, system, settings, 1.0, 0)[0]
    pictures = {name: codes[:-1, :SHOWN].T.reshape(-1, side, side) for name, codes in rows.items()}
    alt = "Twelve drawn lines in each of five rows: real, vae, dp-vae, dp-gm, p3gm"
    PAGE.with_name("p3gm-figure-2.svg").write_text(svg_pictures(pictures, alt=alt), "utf-8")
    inked = {name: float(codes[:-1].mean()) for name, codes in rows.items()}
    lone = {name: alone(p) for name, p in ((n, c[:-1].T.reshape(-1, side, side)) for n, c in rows.items())}
    return table(
        ["panel", "points inked", "inked points without an inked neighbour"],
        [[n, f"{inked[n]:.3f}", f"{lone[n]:.3f}"] for n in rows],
    )


def alone(pictures: np.ndarray) -> float:
    """Share of inked points that touch no other one, sideways, up or down: specks. pictures: (n, height, width)."""
    padded = np.pad(pictures, ((0, 0), (1, 1), (1, 1)))
    near = padded[:, :-2, 1:-1] + padded[:, 2:, 1:-1] + padded[:, 1:-1, :-2] + padded[:, 1:-1, 2:]
    inked = pictures > 0
    return float((near[inked] == 0).mean()) if inked.any() else 0.0


def figure_4(page: str) -> dict[str, str]:
    """The pictures of Figure 4, AUROC and AUPRC by epsilon, from the table of the page; by the name of their file."""
    part = page.split("## Figure 4", 1)[1].split("\n## ", 1)[0]
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in re.findall(r"^\|.+$", part, re.MULTILINE)]
    names = [c.split(",")[0] for c in rows[0][1:]]
    found: dict[str, dict[str, dict[float, float]]] = {m: {n: {} for n in names} for m in ("AUROC", "AUPRC")}
    for epsilon, *cells in rows[2:]:
        for name, cell in zip(names, cells, strict=True):
            for measure, value in zip(found, cell.split(" / "), strict=True):
                found[measure][name][float(epsilon)] = float(value)
    return {
        f"p3gm-figure-4-{measure.lower()}.svg": svg_lines(lines, x="epsilon", y=measure, even=True)
        for measure, lines in found.items()
    }


def drawn(seeds: int) -> str:
    """Figure 4 as pictures."""
    del seeds  # the table of the page
    made = figure_4(PAGE.read_text("utf-8"))
    for name, text in made.items():
        PAGE.with_name(name).write_text(text, "utf-8")
    return "written: " + ", ".join(made)


def losses(seeds: int) -> str:
    """Mean loss of a record by epoch, as the runs released it, for two systems on Adult."""
    data, rows = TABLES["adult"](), []
    for system in ("p3gm", "p3gm-ae", "dp-vae"):
        task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=1.0, delta=DELTA))
        made = configure(system, {"target": data.domain.names[-1]} if system != "dp-vae" else {}).calibrate(task)
        gate = Gate(account=Account(made.cost, delta=made.failure), noise=SystemNoise(), unit=task.unit)
        got = made.measure(MemoryCounter(data.codes, data.domain), gate=gate)
        said = list(got.models[0].losses)
        at = np.unique(np.linspace(0, len(said) - 1, 6).astype(int))
        rows.append([system, len(said), " ".join(f"{said[i]:.2f}" for i in at)])
    del seeds  # one run each: a curve, no mean
    return table(["system", "epochs", "loss in nats a record, first to last epoch"], rows)


class Kept(training.Optimiser):
    """Keeps the weights that records would be drawn from, every so often."""

    every = 1
    weights_by_step: ClassVar[dict[int, np.ndarray]] = {}

    def step(self, gradient: np.ndarray, sigma: np.ndarray | float = 0.0) -> None:
        super().step(gradient, sigma)
        if self._done == 1 or self._done % self.every == 0:
            Kept.weights_by_step[self._done] = self.averaged.copy()


def by_epoch(data: Data, system: str, steps: int) -> dict[int, dict[str, float]]:
    """What a logistic regression learns from records of the networks after some of the steps: step -> scores.

    No column is decoded by a head of its own, as in the paper; all steps are of one run, which has spent epsilon 1.
    """
    settings = {"steps": steps} if system == "dp-vae" else {"steps": steps, "target_share": 0.0}
    task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=1.0, delta=DELTA))
    made = configure(system, settings).calibrate(task)
    gate = Gate(account=Account(made.cost, delta=made.failure), noise=SystemNoise(), unit=task.unit)
    Kept.every, Kept.weights_by_step = max(steps // 5, 1), {}
    with mock.patch.object(training, "Optimiser", Kept):
        got = made.measure(MemoryCounter(data.codes, data.domain), gate=gate)
    out = {}
    for step, weights in Kept.weights_by_step.items():
        now = replace(got, models=(replace(got.models[0], weights=weights[0]),))
        codes = made.synthesize(now, data.codes.shape[1], rng=np.random.default_rng(0))
        out[step] = judged(data, codes, MOST, ("logistic",))
    return out


def epochs(seeds: int) -> str:
    """Figure 7 c and d: accuracy on pictures and AUROC on the stand-in for Credit, by the steps of the training."""
    del seeds  # one run each: a curve, no mean
    rows = []
    for name, measure, panel in (("strokes", "accuracy", "c"), ("credit-like", "auroc", "d")):
        for system in ("p3gm", "p3gm-ae", "dp-vae"):
            found = by_epoch(TABLES[name](), system, 100)
            rows.append([panel, name, measure, system, *(f"{v[measure]:.3f}" for v in found.values())])
    return table(["panel", "table", "score", "system", *(f"after {s}" for s in found)], rows)


def accounting(seeds: int) -> str:
    """Epsilon at delta 1e-5 of the settings that the paper states, by its Theorem 4, and of the flags of its code."""
    del seeds  # nothing is drawn
    stated, flags = [], []
    for name, (records, batch, epochs, sigma_s) in STATED.items():
        learnt_from = int(0.9 * records)
        bare, first, least = (
            Phases(sigma_p=SIGMA_P, sigma_e=e, records=learnt_from, batch=batch, epochs=epochs)
            for e in (math.inf, 100.0, enough(name))
        )
        stated.append([
            name, *(f"{p.epsilons(sigma_s, DELTA)['theorem_4']:.3f}" for p in (bare, first)), f"{least.sigma_e:.1f}",
            f"{least.epsilons(sigma_s, DELTA)['booked']:.3f}",
        ])  # fmt: skip
        sigma_p = FLAGS[name][-1]
        public = Phases(sigma_p=sigma_p, sigma_e=100.0, records=learnt_from, batch=batch, epochs=epochs)
        got = public.epsilons(sigma_s, DELTA)
        one_part, tight = by_theorem_4(*FLAGS[name], parts=1), by_theorem_4(*FLAGS[name], tight=True)
        costs = (one_part, got["baseline"], got["theorem_4"], tight, got["booked"])
        flags.append([name, *(f"{e:.3f}" for e in costs)])
    first_table = table(
        ["settings that the paper states", "components and training", "with the mixture at sigma_e 100",
         "sigma_e for epsilon 1", "booked by this project at that sigma_e"], stated,
    )  # fmt: skip
    second = table(
        ["flags of the public code", "one part, as published", "zCDP and moments, added", "Renyi, as published",
         "Renyi, tighter conversion", "this project"], flags,
    )  # fmt: skip
    adult = Phases(sigma_p=SIGMA_P, sigma_e=enough("Adult"), records=int(0.9 * 45_222), batch=200, epochs=5)
    curve = [
        [f"{s:g}", *(f"{e:.3f}" for e in adult.epsilons(s, DELTA).values())]
        for s in (1.0, 1.2, 1.4, 1.6, 2.0, 3.0, 5.0)
    ]
    third = table(["noise of the training", "zCDP and moments, added", "Theorem 4", "this project"], curve)
    return f"{first_table}\n\n{second}\n\n{third}"


PARTS: dict[str, Callable[[int], str]] = {
    "accounting": accounting, "components": components, "gaussians": two_gaussians, "allocation": allocation,
    "epsilons": epsilons, "losses": losses, "epochs": epochs, "classifiers": classifiers, "pictures": pictures,
    "samples": samples, "drawn": drawn,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    for name in given.only.split(","):
        print(f"## {name}\n\n{PARTS[name](given.seeds)}\n", flush=True)


if __name__ == "__main__":
    main()
