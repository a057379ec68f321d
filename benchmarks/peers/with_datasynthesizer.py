"""DataSynthesizer's correlated mode, at its defaults: SYSTEM IN DOMAIN EPSILON DELTA OUT, for `benchmarks.peers.run`.

Pure DP: delta is not used. Its noise takes a seed, 0 by default; it chooses the number of parents (k=0). It charges
nothing for distributions of single columns that it also takes; only the network shapes the records. Fails on pandas 3.
"""

import json
import sys
import tempfile
from pathlib import Path

import pandas as pd
from DataSynthesizer.DataDescriber import DataDescriber
from DataSynthesizer.DataGenerator import DataGenerator


def main() -> None:
    _, given, sizes, epsilon, _, out = sys.argv[1:]
    domain = json.loads(Path(sizes).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        values, described = Path(folder) / "values.json", Path(folder) / "described.json"
        values.write_text(json.dumps({n: list(range(k)) for n, k in domain.items()}), encoding="utf-8")
        describer = DataDescriber()
        describer.describe_dataset_in_correlated_attribute_mode(
            given,
            epsilon=float(epsilon),
            attribute_to_datatype=dict.fromkeys(domain, "Integer"),
            attribute_to_is_categorical=dict.fromkeys(domain, True),
            attribute_to_is_candidate_key=dict.fromkeys(domain, False),
            categorical_attribute_domain_file=str(values),
        )
        describer.save_dataset_description_to_file(str(described))
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(len(pd.read_csv(given)), str(described))
        generator.save_synthetic_data(out)


if __name__ == "__main__":
    main()
