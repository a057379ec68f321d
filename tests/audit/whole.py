"""The same layers on a whole release: raw table in, synthetic table, manifest and ledger out."""

import tempfile
from pathlib import Path
from typing import ClassVar
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa

from dpsyn_core.errors import DPSynError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs import open as opening
from dpsyn_core.runs import synthesis as release
from dpsyn_core.schema.document import Schema
from tests.audit.ears import listening
from tests.audit.gates import TapeGate
from tests.audit.layers import alarm

DELTA = 1e-6


def schema(**changes):
    """People with an identifier, two records each at most, a number, a category with other and missing cells."""
    document = {
        "version": 1,
        "name": "people",
        "unit": {"neighbours": "add-remove", "identifier": "who", "max_records": 2},
        "attributes": [
            {"name": "who", "kind": "identifier"},
            {"name": "city", "kind": "categorical", "values": ["rome", "oslo"], "other": True, "missing": True},
            {
                "name": "age",
                "kind": "numeric",
                "dtype": "integer",
                "min": 0,
                "max": 99,
                "bins": {"count": 5},
                "missing": True,
            },
            {"name": "smokes", "kind": "categorical", "values": ["no", "yes"], "other": True, "missing": True},
        ],
    } | changes
    return Schema.of(document)


def rows(*records):
    """A text table."""
    columns = list(zip(*records, strict=True)) if records else [[]] * 4
    return pa.table(
        {n: pa.array(c, pa.string()) for n, c in zip(("who", "city", "age", "smokes"), columns, strict=True)}
    )


def crowd(n, seed):
    rng = np.random.default_rng(seed)
    return [
        (f"p{i}", str(rng.choice(["rome", "oslo"])), str(rng.integers(0, 100)), str(rng.choice(["no", "yes"])))
        for i in range(n)
    ]


# one; a crowd; values that the schema does not know, blanks, infinities, one individual with many records. A table
# without records is refused by its reader, one with a blank identifier too (docs/guarantee.md, what is assumed)
TABLES = [
    rows(("p1", "rome", "4", "yes")),
    rows(*crowd(60, 0)),
    rows(
        *[("p1", "atlantis", "1e9", "maybe")] * 30,
        ("p9", "", "", ""),
        ("p2", "ROME", "-inf", "no"),
        ("p3", "x", "?", ""),
    ),
]

# the same in columns of other types: whole numbers; numbers with a blank, hence floats; text; other lists of
# categories. That they are categories somebody declared (docs/guarantee.md), and a release tells it
FRAMES = [
    pd.DataFrame({"who": [1, 2, 3], "city": ["rome", "oslo", "oslo"], "age": [4, 5, 90], "smokes": ["yes"] * 3}),
    pd.DataFrame({"who": [1, 2], "city": ["rome", None], "age": [4.0, None], "smokes": [True, False]}),
    pd.DataFrame({"who": ["x"], "city": ["bergen"], "age": ["old"], "smokes": ["no"]}),
]
CATEGORIES = [
    frame.assign(city=pd.Categorical(frame["city"]), smokes=pd.Categorical(frame["smokes"].map(str)))
    for frame in FRAMES
]


def outcome(table, declared, *, gate=Gate, method="independent", epsilon=1.0, book=None, n_records=None, progress=None):
    """Everything that leaves a run, without run id and clock."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(opening, "Gate", gate):
        ledger = book or Ledger(Path(folder) / "ledger.sqlite3")
        made = release.synthesize(
            table, declared, epsilon=epsilon, delta=DELTA, rng=7, method=method, ledger=ledger, n_records=n_records,
            **({"progress": progress} if progress else {}),
        )  # fmt: skip
        entries = [
            (e.dataset, e.method, e.kind, e.amount, e.failure, e.epsilon, e.delta) for e in ledger.entries("people")
        ]
    return made, entries


def t1_whole(method="independent"):
    """Under a constant tape, table, manifest, ledger, progress and all that is said are those of any other table."""
    for tables in (TABLES, FRAMES, CATEGORIES):
        seen = [taped(table, method) for table in (tables[0], *tables)][1:]  # libraries speak at their first use
        alarm(any(s != seen[0] for s in seen), f"whole release with {method}: the output depends on the table")


def taped(table, method):
    """All that leaves one release under a constant tape, as text."""
    said, heard = [], []

    def progress(stage, done, total, value=None):
        said.append((stage, done, total, value))

    with listening(heard):
        try:
            made, entries = outcome(table, schema(), gate=TapeGate, method=method, progress=progress)
        except DPSynError as error:
            return str((str(error), said, heard))
    manifest = made.manifest.model_dump(
        exclude={"run_id", "ledger_chain", "seconds"}
    )  # run id and clock are in the chain
    types = str(made.table.schema if hasattr(made.table, "schema") else made.table.dtypes)
    kept = (made.arrow.to_pydict(), made.arrow.schema.to_string(), types, made.codes.dtype.str, made.codes.tobytes())
    return str((kept, sorted(manifest.items()), entries, said, heard))


class Diary(Gate):
    """Keeps what was counted under each charge."""

    pages: ClassVar = []

    def _noisy(self, exact, charge):
        self.pages.append((exact.copy(), charge))
        return super()._noisy(exact, charge)


def t2_whole():
    """One individual with many records moves what is counted by theta at most; budget and ledger cover the charges."""
    everyone = [(f"p{i % 60}", city, age, smokes) for i, (_, city, age, smokes) in enumerate(crowd(240, 1))]
    spammer = [("spam", "oslo", str(i % 100), "yes") for i in range(50)]
    declared = schema()
    counted = []
    with mock.patch("dpsyn_core.measure.sources.bounding.os.urandom", lambda n: bytes(range(n))):
        for table in (rows(*everyone), rows(*everyone[:100], *spammer, *everyone[100:])):
            Diary.pages = []
            try:
                made, entries = outcome(table, declared, gate=Diary)
            except DPSynError as error:
                alarm(True, f"whole release: {error}")
            counted.append(Diary.pages)
            spent = made.manifest.recomputed_epsilon()
            alarm(spent > 1.0 + 1e-9, f"whole release: epsilon 1 promised, {spent} spent")
            rho = sum((c.sensitivity / c.sigma) ** 2 / 2 for c in made.manifest.charges)
            alarm(len(entries) != 1 or entries[0][3] < rho * (1 - 1e-9), "whole release: less on the ledger than spent")
            alarm(
                len(made.manifest.charges) != len(Diary.pages) or len(Diary.pages) == 0,
                "whole release: accesses and charges differ",
            )
    for (left, charge), (right, _) in zip(*counted, strict=True):
        norm = float(np.sqrt(((left - right) ** 2).sum()))
        alarm(
            charge.sensitivity < 2, f"whole release: '{charge.name}' has sensitivity {charge.sensitivity}, theta is 2"
        )
        alarm(norm > charge.sensitivity + 1e-9, f"whole release: one individual moves '{charge.name}' by {norm}")


class Broken(Gate):
    """Fails when it is to count."""

    def release_tables(self, wanted, count):
        def failing():
            raise RuntimeError("the disk is gone")

        return super().release_tables(wanted, failing)


def t2_crash():
    """A run that dies while it counts stays on the ledger."""
    with tempfile.TemporaryDirectory() as folder:
        book = Ledger(Path(folder) / "ledger.sqlite3")
        try:
            outcome(TABLES[1], schema(), gate=Broken, book=book)
        except RuntimeError:
            alarm(len(book.entries("people")) != 1, "a run that failed while counting is not on the ledger")
        else:
            alarm(True, "a failing count did not end the run")


def stamp():
    """What was read from the data is stamped; the identifier stays in; a clean schema is not stamped."""
    declared = schema()
    attributes = [a.document() for a in declared.attributes]
    attributes[1]["source"] = "data"
    tainted = schema(attributes=attributes)
    for one, private in ((declared, True), (tainted, False)):
        made, _ = outcome(TABLES[1], one)
        alarm(made.manifest.private != private, f"manifest says private: {made.manifest.private}, should be {private}")
        alarm(("NOT PRIVATE" in made.manifest.guarantee) == private, "the guarantee does not carry the stamp")
        alarm("who" in made.arrow.column_names, "the identifier left the engine")
