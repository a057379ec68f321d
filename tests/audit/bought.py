"""T1 and T2 on a schema that is bought: raw table in, schema, charges and ledger out; individuals have names."""

import tempfile
from itertools import product
from pathlib import Path
from unittest import mock

from dpsyn_core.errors import DPSynError
from dpsyn_core.measure.discovery import Wanted
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs import open as opening
from dpsyn_core.runs import purchase as buying
from dpsyn_core.schema.document import SchemaUnit
from tests.audit.ears import listening
from tests.audit.gates import Alarm, TapeGate, WatchGate, released
from tests.audit.layers import alarm, check_charges, check_note
from tests.audit.whole import FRAMES, TABLES, crowd, rows

THETAS = 2, 6  # records of an individual: at the first epsilon lists more categories, at the second rho
LAVISH, DELTA = 50.0, 1e-3  # sixty individuals tell nothing at a small epsilon
WANTED = (
    Wanted(name="age", kind="integer", bins=3),
    Wanted(name="city", kind="categorical"),
    Wanted(name="smokes", kind="categorical"),
)


def bought(table, gate, progress=None, theta=THETAS[0]):
    """What is learnt, and what stands on the ledger."""
    unit = SchemaUnit(identifier="who", max_records=theta)
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(opening, "Gate", gate):
        book = Ledger(Path(folder) / "ledger.sqlite3")
        found = buying.buy_schema(
            table, WANTED, name="people", epsilon=LAVISH, delta=DELTA, unit=unit, ledger=book,
            **({"progress": progress} if progress else {}),
        )  # fmt: skip
        return found, [(e.dataset, e.method, e.kind, e.amount, e.failure) for e in book.entries("people")]


def taped(table):
    """All that leaves a purchase under a constant tape, as text."""
    said, heard = [], []
    with listening(heard):
        try:
            found, entries = bought(table, TapeGate, lambda *told: said.append(told))
        except DPSynError as error:
            return str((str(error), said, heard))
    return str((found.schema.dumps(), found.total, found.charges, entries, said, heard))


def t1_bought():
    """The same schema, charges and ledger for arbitrary tables."""
    for tables in (TABLES, FRAMES):
        seen = [taped(table) for table in (tables[0], *tables)][1:]  # libraries speak at their first use
        alarm(any(s != seen[0] for s in seen), "a bought schema depends on the table past the gate")


def t2_bought():
    """One individual with many records moves every access by what is charged, whoever else is there."""
    everyone = [(f"p{i % 60}", city, age, smokes) for i, (_, city, age, smokes) in enumerate(crowd(240, 1))]
    spammers = {
        "many in one category": [("spam", "oslo", str(i % 100), "yes") for i in range(50)],
        "many categories": [("spam", f"city {i}", str(i * i), "yes") for i in range(50)],
        "the same record again": [("spam", "oslo", "7", "yes")] * 50,
    }
    for what, spam in spammers.items():
        tables = rows(*everyone), rows(*everyone[:100], *spam, *everyone[100:])
        for theta, pair in product(THETAS, (tables, tables[::-1])):
            gates, outputs = [], None

            def watching(gates=gates, **kwargs):
                gates.append(WatchGate(forced=outputs, **kwargs))
                return gates[-1]

            with mock.patch("dpsyn_core.measure.unprotected.os.urandom", lambda n: bytes(range(n))):
                for table in pair:
                    try:
                        bought(table, watching, theta=theta)
                    except DPSynError as error:
                        raise Alarm(f"{what}: {error}") from error
                    outputs = released(gates[0].notes)
                    check_charges(gates[-1], what, LAVISH, DELTA)
            left, right = gates
            alarm(left.account.charges != right.account.charges, f"{what}: the charges depend on the table")
            for one, other in zip(left.notes, right.notes, strict=True):
                check_note(one, other, Unit(max_records=theta), what)
