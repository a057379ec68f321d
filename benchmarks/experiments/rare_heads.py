"""The linear rule at which the head of a rare target begins, with squared scores or without.

`python -m benchmarks.experiments.rare_heads [--draws 12]`

AUROC and average precision on real records of credit-like that no run saw, at the parts of (1, 1e-5) that p3gm spends
where 90 of 45,000 records have a value of the target, for draws of a seeded noise of the same size: means.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks import deep
from benchmarks.process import table
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.deep import discriminant
from dpsyn_core.synthesizers.deep.components import components
from dpsyn_core.synthesizers.deep.features import space_of
from dpsyn_core.synthesizers.deep.head import Others
from dpsyn_core.synthesizers.deep.p3gm import AGAIN, Phased
from dpsyn_core.synthesizers.registry import configure


def rule(data: deep.Data, system: Phased, bent: bool, rng: np.random.Generator) -> tuple[float, float]:
    """AUROC and average precision of one draw; chance where the rare value was lost."""
    domain, aim, costs = data.domain, len(data.domain) - 1, system.costs
    again = system.again()
    assert again is not None
    sigmas = [cost.sigma(1.0) for cost in system.one_ways]
    sigmas[aim] = (sigmas[aim] ** -2 + again.sigma(1.0) ** -2) ** -0.5
    ones = [
        Measurement(
            attributes=(a.name,), values=np.bincount(c, minlength=a.size) + s * rng.normal(size=a.size), sigma=s
        )
        for a, c, s in zip(domain.attributes, data.codes, sigmas, strict=True)
    ]
    space = space_of(domain, ones, None, values=64, weights={domain.names[aim]: system.weight()})
    if space.blocks[aim].size < 2:
        return 0.5, float(data.test[aim].mean())
    x = space.clipped(data.codes)
    spread = costs["components"].sigma(1.0)
    found = components(x.T @ x + spread * rng.normal(size=(space.width,) * 2), space.total, spread, 20)
    others = Others.of(space, aim, bent=bent)
    classes = discriminant.Classes.of(space.blocks[aim], others)
    inputs = others(space.features(data.codes)) / classes.length
    inputs /= np.maximum(np.linalg.norm(inputs, axis=1, keepdims=True), 1)
    noise = system.cost.scaled(system.config.target_share * (1 - AGAIN)).sigma(1.0)
    summed = classes.table[space.coarse(data.codes)[:, aim]].T @ inputs
    summed = summed + noise * rng.normal(size=summed.shape)
    weights = discriminant.linear_start(space, aim, classes, found, summed, noise)
    logits = others(space.features(data.test)) @ weights[:-1] + weights[-1]
    score, label = logits[:, 1] - logits[:, 0], data.test[aim]
    return float(roc_auc_score(label, score)), float(average_precision_score(label, score))


def main() -> None:
    """Prints a row a rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=12)
    given = parser.parse_args()
    data = deep.TABLES["credit-like"]()
    task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=1.0, delta=deep.DELTA))
    system = configure("p3gm", dict(data.settings)).calibrate(task)
    assert isinstance(system, Phased)
    rows = []
    for name, bent in (("with squared scores", True), ("without squared scores", False)):
        found = [rule(data, system, bent, np.random.default_rng(k)) for k in range(given.draws)]
        rows.append([name, *(f"{v:.3f}" for v in np.mean(found, axis=0))])
    print(table(["head of credit-like", "AUROC", "average precision"], rows))


if __name__ == "__main__":
    main()
