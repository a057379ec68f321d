"""synthcity's plugins for DP on codes, at their defaults: SYSTEM IN DOMAIN EPSILON DELTA OUT.

Called by `benchmarks.peers.run`. Both fix a seed of 0, for the noise too, and learn from the records, at no charge,
which values there are. PrivBayes cuts numbers into 100 bins of the range that it observes, and is pure DP.
"""

import sys
import tempfile
from pathlib import Path

import pandas as pd
from synthcity.plugins import Plugins
from synthcity.plugins.core.dataloader import GenericDataLoader


def main() -> None:
    system, given, _, epsilon, delta, out = sys.argv[1:]
    records = pd.read_csv(given)
    more = {"delta": float(delta)} if system == "aim" else {}
    with tempfile.TemporaryDirectory() as folder:
        plugin = Plugins().get(system, epsilon=float(epsilon), workspace=Path(folder), **more)
        plugin.fit(GenericDataLoader(records, target_column=records.columns[-1]))
        made = plugin.generate(count=len(records)).dataframe()
    made[list(records.columns)].round().astype(int).to_csv(out, index=False)


if __name__ == "__main__":
    main()
