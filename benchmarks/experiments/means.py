"""Coarse values for a mean, on noisy tables alone: `python -m benchmarks.experiments.means` prints them.

The table CITY x SEX x INCWAGE of the bundled sample gets normal noise a hundred times, for each standard deviation and
each share of a spread that coarse values are taken to hide; gaps are read off it as they are. Prints Markdown: coarse
values, mean error of a gap, and median rank agreement with the truth.
"""

from __future__ import annotations

import numpy as np

from benchmarks.process import table as markdown
from benchmarks.questions import FORMS, incomes, named
from dpsyn_core.marginals.coarsening import Coarsening
from dpsyn_core.questions.evaluate import evaluate
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.sample import sample_schema, sample_table

SIGMAS, HIDDEN, TIMES = (11.8, 4.0), (0.1, 0.2, 0.4, 0.8), 100


def main() -> int:
    from scipy.stats import spearmanr

    schema, people = sample_schema(), sample_table()
    codes, domain = Codec(schema).encode(people).codes, schema.domain()
    [question] = named([FORMS["gap"]], schema).questions
    truth = evaluate(question, codes, schema, values=incomes(people)).values
    numbers = np.asarray(schema["INCWAGE"].middles(), dtype=np.float64)
    shape = domain.shape(("CITY", "SEX", "INCWAGE"))
    flat = np.ravel_multi_index([codes[domain.index(n)].astype(np.intp) for n in ("CITY", "SEX", "INCWAGE")], shape)
    counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
    ones = counts.sum(axis=(0, 1))
    rng = np.random.default_rng(0)
    rows = []
    for sigma in SIGMAS:
        for hidden in HIDDEN:
            recode = Coarsening.by_mean(ones, numbers, noise=20 * sigma / hidden).map
            known = np.eye(int(recode.max()) + 1)[recode]  # (values, coarse values)
            held = np.where(np.isnan(numbers), 0.0, ones)
            mass = held @ known
            means = np.divide((held * np.nan_to_num(numbers)) @ known, mass, out=np.zeros(len(mass)), where=mass > 0)
            errors, ranks = [], []
            for _ in range(TIMES):
                noisy = np.maximum(counts @ known + rng.normal(0, sigma, (*shape[:2], len(mass))), 0) * (mass > 0)
                side = (noisy @ means) / noisy.sum(axis=-1)
                gap = side[:, 0] - side[:, 1]
                errors.append(float(np.abs(gap - truth).mean()))
                ranks.append(float(spearmanr(gap, truth).statistic))
            rows.append([sigma, hidden, len(mass), f"{np.mean(errors):.1f}", f"{np.median(ranks):.2f}"])
    print(markdown(["noise", "hidden share", "coarse values", "error of a gap", "rank"], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
