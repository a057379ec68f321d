"""NIST's Collaborative Research Cycle: `python -m benchmarks.community [--data FOLDER --excerpt ma2019]`.

Ten demographic columns and all 24, at epsilon 1 and 10, with SDNist's measures: k-marginal of pairs (1,000 is perfect;
PUMA and INDP left out, as it does) and the sample of real records that is as good, propensity (a tree of six splits),
principal components, records that cannot be, and unique records that are met again. Without --data the people are
invented (`benchmarks.community_tables.made`): figures of those are not those of the cycle. Numbers with many values
have public bins. The first row is a fresh table of invented people, or half of NIST's records. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.community_tables import ALL, TEN, Cycle, coded, inconsistent, made, of_nist
from benchmarks.engine import run_system
from benchmarks.process import table as markdown
from dpsyn_core.errors import DPSynError
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.subsample import KMarginal, component_distances, unique_met

DELTA = 1e-5
SPLITS = 6  # of SDNist's tree
HEADERS = ["columns", "epsilon", "system", "k-marginal", "as good as", "propensity", "components", "cannot be: age",
           "work", "housing", "unique met"]  # fmt: skip


def propensity(real: np.ndarray, synthetic: np.ndarray) -> float:
    """SDNist's: mean squared distance of the leaf's share from the share of synthetic records, at most .25."""
    from sklearn.tree import DecisionTreeClassifier

    x = np.concatenate([real, synthetic], axis=1).T
    y = np.repeat([0, 1], [real.shape[1], synthetic.shape[1]])
    tree = DecisionTreeClassifier(max_depth=SPLITS, random_state=0).fit(x, y)
    return float(((tree.predict_proba(x)[:, 1] - y.mean()) ** 2).mean())


def row(data: Cycle, epsilon: str, system: str, codes: np.ndarray) -> list[str]:
    kept = [i for i, n in enumerate(data.domain.names) if n not in ("PUMA", "INDP")]
    domain = type(data.domain)(tuple(data.domain.attributes[i] for i in kept))
    score = KMarginal().compute(Comparison(domain=domain, real=data.codes[kept], synthetic=codes[kept]))
    alone, met = unique_met(data.codes, codes)
    wrong = inconsistent(data.read(codes))
    return [
        str(len(data.domain)), epsilon, system, f"{score.value:.0f}",
        f"{float(score.details['equivalent_subsample']):.0%}", f"{propensity(data.codes, codes):.4f}",
        f"{component_distances(data.codes, codes).mean():.3f}",
        *(f"{wrong[g]:.1%}" for g in ("age", "work", "housing")), f"{met / max(alone, 1):.1%}",
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Runs every system on both sets of columns at every epsilon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with NIST's excerpts")
    parser.add_argument("--excerpt", default="ma2019", help="ma2019, tx2019 or national2019")
    parser.add_argument("--records", type=int, default=8_000, help="of the invented people")
    parser.add_argument("--epsilons", default="1,10")
    parser.add_argument("--columns", default="10,24")
    parser.add_argument("--systems", default="rls,aim,mst,privbayes,independent")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    table = of_nist(args.data, args.excerpt) if args.data else made(args.records, args.seed)
    rows = []
    for count in args.columns.split(","):
        columns = {"10": TEN, "24": ALL}[count]
        data = coded(args.excerpt if args.data else "invented", table, columns)
        if args.data:
            half = np.random.default_rng(args.seed).permutation(data.codes.shape[1])[: data.codes.shape[1] // 2]
            rows.append(row(data, "", "half of the records", data.codes[:, half]))
        else:
            again = coded("again", made(args.records, args.seed + 1), columns)
            if again.words == data.words:
                rows.append(row(data, "", "fresh people", again.codes))
        for epsilon in args.epsilons.split(","):
            for system in args.systems.split(","):
                try:
                    run = run_system(system, data.codes, data.domain, epsilon=float(epsilon), delta=DELTA)
                    rows.append(row(data, epsilon, system, run.codes))
                except DPSynError as error:
                    rows.append([count, epsilon, system, f"refused: {error}"] + [""] * (len(HEADERS) - 4))
                print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    print(markdown(HEADERS, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
