"""dpmm's pipelines on codes, at its defaults: SYSTEM IN DOMAIN EPSILON DELTA OUT, called by `benchmarks.peers.run`.

Its processing of raw columns is off, as it allows, since the codes need none: it would spend .1 more than epsilon.
"""

import json
import sys

import pandas as pd
from dpmm import pipelines


def main() -> None:
    system, given, sizes, epsilon, delta, out = sys.argv[1:]
    records = pd.read_csv(given)
    with open(sizes, encoding="utf-8") as file:  # noqa: PTH123 as short as its task
        domain = json.load(file)
    kind = {"mst": "MSTPipeline", "aim": "AIMPipeline", "privbayes": "PrivBayesPipeline"}[system]
    pipeline = getattr(pipelines, kind)(epsilon=float(epsilon), delta=float(delta), disable_processing=True)
    pipeline.fit(records, domain)
    pipeline.generate(n_records=len(records)).to_csv(out, index=False)


if __name__ == "__main__":
    main()
