"""SmartNoise-synth on codes, at its defaults: SYSTEM IN DOMAIN EPSILON DELTA OUT, called by `benchmarks.peers.run`.

All columns are said to be categories. It learns which there are from the records, at no charge.
"""

import sys

import pandas as pd
from snsynth import Synthesizer


def main() -> None:
    system, given, _, epsilon, delta, out = sys.argv[1:]
    records = pd.read_csv(given)
    made = Synthesizer.create(system, epsilon=float(epsilon), delta=float(delta))
    made.fit(records, categorical_columns=list(records.columns), preprocessor_eps=0.0)
    made.sample(len(records)).to_csv(out, index=False)


if __name__ == "__main__":
    main()
