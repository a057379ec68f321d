"""Tables and figures of the source documents, computed anew: `python -m benchmarks.remade [--document 2020]`.

Prints the tables of docs/evidence/remade for the documents whose figures are arithmetic or worked examples: the
write-up of 2020, the experiences of the challenges, DPFieldGroups and the slides on the Dirichlet-multinomial. Takes
seconds. Those of P3GM, which trains networks, come from `python -m benchmarks.remade_p3gm`.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable

import numpy as np

from benchmarks.process import table
from dpsyn_core.estimate.marginals.covering_designs import affine_plane, pair_error, plane_cover, uncovered
from dpsyn_core.estimate.marginals.overlap import estimate_total, make_consistent
from dpsyn_core.estimate.marginals.simplex import norm_cut, norm_sub
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.measure.dependence import indif_ratio
from dpsyn_core.measure.sparse import survival
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.curves import crossings, noise_curves
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.others.basis import Queries, build_bases, mean_variance, merge_by_twos
from dpsyn_core.systems.others.field_groups import threshold
from ui.learn.numbers.family import COUNTS, PUBLISHED, least_alpha, moments

DELTA_2018 = 2.2820544e-12  # 1 / 661,968 squared: the census of the challenge
DELTA_2020 = 3.4498908254380166e-11  # of the public log of the entry
# the five maximal itemsets of the example of PrivBasis
MAXIMAL = tuple(frozenset("ABCDEGH".index(i) for i in s) for s in ("ABC", "BD", "CE", "ABG", "GH"))
TWO_BASES = tuple(frozenset("ABCDEGH".index(i) for i in s) for s in ("ABCDE", "ABGH"))


def figure_2() -> str:
    """Noise by the number of marginals, the document's four named approaches, the fifth, and exact accounting."""
    shown = (
        "laplace_basic",
        "laplace_advanced",
        "gaussian_advanced",
        "laplace_zcdp",
        "gaussian_zcdp",
        "gaussian_exact",
    )
    ks = [1, 10, 18, 19, 28, 29, 100, 465]
    got = noise_curves(1.0, 1e-9, ks)["curves"]
    rows = [[k, *(f"{got[name][str(k)]:,.1f}" for name in shown)] for k in ks]
    out = table(["marginals", *(n.replace("_", ", ") for n in shown)], rows)
    met = [[e, d, f"{crossings(e, d, Unit())['laplace_basic:gaussian_zcdp']:.2f}"]
           for e, d in ((0.01, 1e-8), (0.01, 1e-12), (1, 1e-8), (1, 1e-12))]  # fmt: skip
    return f"{out}\n\n{table(['epsilon', 'delta', 'Laplace and Gaussian noise are equal at'], met)}"


def theorem_4() -> str:
    """Sigma for k marginals by the theorem as mended, and by exact accounting."""
    rows = []
    for epsilon, delta, k in ((1, 1e-6, 1), (1, 1e-6, 100), (1, 1e-9, 10), (2, 1e-9, 91), (10, DELTA_2020, 465)):
        got = noise_curves(epsilon, delta, [k])["curves"]
        rows.append([epsilon, f"{delta:.3g}", k, f"{got['gaussian_zcdp'][str(k)]:.3f}",
                     f"{got['gaussian_exact'][str(k)]:.3f}"])  # fmt: skip
    return table(["epsilon", "delta", "marginals", "by Theorem 4", "by exact accounting"], rows)


def consistency() -> str:
    """Two tables that disagree about one attribute, before and after; the numbers are ours."""
    first = Measurement(attributes=("A", "B"), values=np.array([[10.0, 5], [7, 8]]), sigma=1.0)
    second = Measurement(attributes=("A", "C"), values=np.array([[6.0, 4, 2], [9, 5, 8]]), sigma=1.0)
    one, two = make_consistent([first, second], rule="none")
    rows = [[" x ".join(b.attributes), _cells(b.values), _cells(a.values)]
            for b, a in ((first, one), (second, two))]  # fmt: skip
    total = estimate_total([first, second])
    return f"{table(['table', 'noisy', 'agreeing'], rows)}\n\nTotal by inverse variance: {total:.1f}."


def negative_cells() -> str:
    """Five cells by norm_sub and norm_cut, which stand in no document (Wang et al. 2020)."""
    x = np.array([-1.5, -2.5, 2.0, 1.0, 10.0])
    rows = [["noisy", _cells(x)], ["norm_sub", _cells(norm_sub(x))], ["norm_cut", _cells(norm_cut(x))]]
    return table(["rule", "cells"], rows)


def figure_1() -> str:
    """The table of the figure, and its distance from the product of its marginals, which the figure does not have."""
    counts = np.array([[20, 15, 20], [15, 20, 10]])
    scaled, n = indif_ratio(counts)
    return table(["table", "records", "distance"], [[_cells(counts), n, f"{scaled / n:g}"]])


def views() -> str:
    """How many views cover all pairs, and the size of views with the least error of a pair."""
    twelve = plane_cover(12, 8) or []
    rows = [[12, 8, len(twelve), uncovered(twelve, 12, 2)], [64, 8, len(affine_plane(8)), 0]]
    out = table(["attributes", "in a view", "views", "pairs left out"], rows)
    sizes = [[k, f"{pair_error(k):.4f}", f"{pair_error(k, 3):.4f}" if k > 2 else ""] for k in range(5, 12)]
    return f"{out}\n\n{table(['attributes in a view', 'error of pairs', 'error of triples'], sizes)}"


def rounds_of_2018() -> str:
    """Noise of 200 marginals, a number of ours, at the three budgets of the last round."""
    rows = []
    for epsilon in (0.3, 1.0, 8.0):
        got = noise_curves(epsilon, DELTA_2018, [200])["curves"]
        rows.append([epsilon, f"{got['gaussian_zcdp']['200']:.1f}", f"{got['gaussian_exact']['200']:.1f}"])
    return table(["epsilon", "by the closed form", "by exact accounting"], rows)


def privbasis() -> str:
    """Mean variance of the items and pairs of the example, by how its five sets are merged."""
    pairs = sorted({p for m in MAXIMAL for p in itertools.combinations(sorted(m), 2)})
    queries = [frozenset([i]) for i in range(7)] + [frozenset(p) for p in pairs]
    ways = {
        "merged until the first rise": merge_by_twos(list(MAXIMAL), Queries(queries), 12, patience=1),
        "merged to the end, best of the path": merge_by_twos(list(MAXIMAL), Queries(queries), 12),
        "exact search (the default)": build_bases(range(7), pairs, 12),
        "the document's two bases": list(TWO_BASES),
    }
    rows = [[name, len(bases), f"{mean_variance(bases, queries):.2f}"] for name, bases in ways.items()]
    return table(["bases", "number", "mean variance"], rows)


def cuts() -> str:
    """Laplace scale of 39 groups, thresholds by bins, and how many empty bins pass."""
    rows = []
    for epsilon in (8.0, 1.0, 0.3):
        scale = Budget(epsilon=epsilon, delta=0.0).pure().split([1.0] * 39)[0].scale(1)
        for bins in (100, 10**4, 10**6):
            cut = threshold(scale, bins, 1.9)
            passing = bins * survival(scale, int(np.ceil(cut)))
            rows.append([epsilon, f"{scale:g}", f"{bins:,}", f"{cut:.1f}", f"{passing:.2f}"])
    return table(["epsilon", "scale", "bins", "cut", "empty bins above it"], rows)


def priors() -> str:
    """The least prior count by epsilon for the document's 994 people, and their synthetic counts at epsilon 5."""
    m = int(COUNTS.sum())
    alphas = table(["epsilon", "least prior count"], [[e, f"{least_alpha(m, e):.6f}"] for e in (1, 2, 5, 8)])
    mean, spread = moments(COUNTS, m, 5.0)
    rows = [[int(c), f"{a:.1f} ± {s:.1f}", int(p)] for c, a, s, p in zip(COUNTS, mean, spread, PUBLISHED, strict=True)]
    return f"{alphas}\n\n{table(['people', 'mean ± deviation of a draw', 'the draw that is shown'], rows)}"


DOCUMENTS: dict[str, dict[str, Callable[[], str]]] = {
    "2020": {
        "Theorem 4": theorem_4, "Consistency, an example of ours": consistency,
        "Negative cells, an example of ours": negative_cells,
    },
    "experiences": {
        "Figure 1": figure_1, "Figure 2": figure_2, "Views": views,
        "Noise of 200 marginals, an example of ours": rounds_of_2018, "PrivBasis": privbasis,
    },
    "field-groups": {"Cuts": cuts},
    "slides": {"Prior and draws": priors},
}  # fmt: skip


def _cells(values: np.ndarray) -> str:
    rows = np.atleast_2d(values)
    return " / ".join(", ".join(f"{v:.1f}".removesuffix(".0") for v in row) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--document", choices=[*DOCUMENTS, "all"], default="all")
    asked = parser.parse_args().document
    for document, parts in DOCUMENTS.items():
        if asked in (document, "all"):
            print(f"# {document}\n")
            for name, part in parts.items():
                print(f"## {name}\n\n{part()}\n")


if __name__ == "__main__":
    main()
