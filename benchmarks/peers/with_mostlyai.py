"""MOSTLY AI's TabularARGN with DP on codes, at its defaults: SYSTEM IN DOMAIN EPSILON DELTA OUT.

Called by `benchmarks.peers.run`. All columns are said to be categories. Protection of rare values is off, since codes
and their domain are public and it would spend 1.0 more than epsilon. Training ends by itself where epsilon is reached.
It learns which categories there are from the records, at no charge then.
"""

import sys

import pandas as pd
from mostlyai.engine import TabularARGN


def main() -> None:
    _, given, _, epsilon, delta, out = sys.argv[1:]
    records = pd.read_csv(given)
    privacy = {"max_epsilon": float(epsilon), "delta": float(delta)}
    model = TabularARGN(
        differential_privacy=privacy,
        value_protection=False,
        tgt_encoding_types=dict.fromkeys(records.columns, "TABULAR_CATEGORICAL"),
        verbose=0,
    )
    model.fit(records)
    made = model.sample(n_samples=len(records))
    made[list(records.columns)].astype(int).to_csv(out, index=False)


if __name__ == "__main__":
    main()
