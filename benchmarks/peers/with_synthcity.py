"""synthcity's plugins for DP on codes, at their defaults: SYSTEM IN DOMAIN EPSILON DELTA OUT.

Called by `benchmarks.peers.run`. Both fix a seed of 0, for the noise too, and learn from the records, at no charge,
which values there are. PrivBayes cuts numbers into 100 bins of the range that it observes, and is pure DP. AIM counts
codes below the number of values that occur and drops every record with another, so that it gets their ranks.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from synthcity.plugins import Plugins
from synthcity.plugins.core.dataloader import GenericDataLoader


def main() -> None:
    system, given, _, epsilon, delta, out = sys.argv[1:]
    records = pd.read_csv(given)
    occur = {name: np.unique(column) for name, column in records.items()}
    ranks = records.apply(lambda column: np.searchsorted(occur[column.name], column)) if system == "aim" else records
    more = {"delta": float(delta)} if system == "aim" else {}
    with tempfile.TemporaryDirectory() as folder:
        plugin = Plugins().get(system, epsilon=float(epsilon), workspace=Path(folder), **more)
        plugin.fit(GenericDataLoader(ranks, target_column=records.columns[-1]))
        made = plugin.generate(count=len(records)).dataframe()[list(records.columns)].round().astype(int)
    if system == "aim":
        made = made.apply(lambda column: occur[column.name][column])
    made.to_csv(out, index=False)


if __name__ == "__main__":
    main()
