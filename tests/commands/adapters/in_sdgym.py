"""Runs SDGym's own benchmark on the adapter: FOLDER. For an interpreter that has SDGym (requirements/sdgym.lock).

Prints one JSON line: what the class is called, the columns that it samples, and the row of the benchmark.
"""

import json
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

METADATA = {
    "tables": {
        "people": {
            "primary_key": "person",
            "columns": {
                "person": {"sdtype": "id"}, "sex": {"sdtype": "categorical"}, "age": {"sdtype": "numerical"},
            },
        }
    },
    "relationships": [],
    "METADATA_SPEC_VERSION": "V1",
}  # fmt: skip
DOCUMENT = {
    "version": 1,
    "name": "people",
    "unit": {"identifier": "person"},
    "attributes": [
        {"name": "person", "kind": "identifier"},
        {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 10}},
    ],
}


def people():
    rng = np.random.default_rng(3)
    sex = rng.choice(["F", "M"], 900, p=[0.8, 0.2])
    age = np.where(sex == "F", rng.integers(60, 90, 900), rng.integers(10, 40, 900))
    return pd.DataFrame({"person": [f"secret-{i}" for i in range(900)], "sex": sex, "age": age})


def main():
    import sdgym
    from sdv.metadata import Metadata

    from dpsyn_core.commands.adapters.sdv import sdgym_synthesizer
    from dpsyn_core.schema.document import Schema

    sets = Path(sys.argv[1]) / "sets"
    one = sdgym_synthesizer("DPSyn", schema=Schema.of(DOCUMENT), method="independent")
    metadata, table = Metadata.load_from_dict(METADATA), people()
    fitted = one().get_trained_synthesizer(table, metadata.to_dict())
    columns = list(one().sample_from_synthesizer(fitted, 30).columns)
    folder = sets / "single_table" / "people"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("people.csv", table.to_csv(index=False))
    metadata.save_to_json(folder / "metadata.json")
    os.chdir(folder.parent)  # SDGym looks for tables where it runs, and else on the network
    scores = sdgym.benchmark_single_table(
        synthesizers=[], custom_synthesizers=[one], sdv_datasets=None,
        additional_datasets_folder=str(sets), compute_privacy_score=False,
    )  # fmt: skip
    row = scores[scores["Synthesizer"] == one.__name__].iloc[0]
    figures = {name: float(row[name]) for name in ("Quality_Score", "Diagnostic_Score")}
    print(json.dumps({"name": one.__name__, "columns": columns, **figures}))


if __name__ == "__main__":
    main()
