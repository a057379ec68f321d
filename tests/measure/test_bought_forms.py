"""What a purchase takes over without paying: kinds and forms are declared or confirmed, or the schema is marked."""

import datetime
import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.errors import BudgetError, SchemaError
from dpsyn_core.measure.discovery import Wanted
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.schema.date_formats import example_of, formats_of
from dpsyn_core.schema.drafts.confirmation import confirm
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.tables.cells import amounts
from dpsyn_core.tables.frames import to_arrow
from tests.measure.test_discover import QUIET, buy

N = 3000
PRICE = Budget(epsilon=5.0, delta=1e-6)
DAYS = [datetime.date(2003, 1, 1) + datetime.timedelta(days=int(i)) for i in np.arange(N) * 7 % 700]
COLUMNS = {
    "amounts": [f"${100 + i % 900:,}.{i % 100:02d}" for i in range(N)],
    "percent": [f"{i % 100} %" for i in range(N)],
    "whole": [str(100 + i % 900) for i in range(N)],
    "real": [f"{1 + i % 900}.5" for i in range(N)],
    "days": [d.strftime("%d/%m/%Y") for d in DAYS],
    "short months": [d.strftime("%d %b %Y") for d in DAYS if d.month == 5],
    "iso": [d.isoformat() for d in DAYS],
    "words": ["rome", "oslo", "bern"] * (N // 3),
    "flags": ["true", "false"] * (N // 2),
    "ordered": ["5 %", "10 %", "15 %"] * (N // 3),
}
ODD = (
    "$1,234.5678901", "$2,345", "$-5", "5 €", "1.5", "7", "0.1234567", "99999999999", "1e300", "-3", "word", "", " ",
    "NA", "31/12/2003", "12/31/2003", "31/12/2003 10:00", "31 August 2003", "2003-12-31", "2003-12-31T10:00:00Z",
    "007", "1,234", "true", "=1+1", "Zürich", "\ufffd", "1234567 %",
)  # fmt: skip


def wanted(cells, *, known=False):
    """What somebody buys who drafts first; None where the draft leaves the column out."""
    table = pa.table({"a": cells, "b": ["x"] * len(cells)})
    attribute = draft(table, "t").document()["attributes"][0]
    return None if attribute["kind"] in ("ignored", "identifier") else Wanted.of(attribute, known=known)


def learnt(cells, want):
    """The schema that is bought, without noise."""
    return buy(to_arrow(pd.DataFrame({"a": cells})), [want], PRICE, noise=QUIET)[0].schema


def plain(schema):
    """A schema without its charges, which neighbours share."""
    return {k: v for k, v in schema.document().items() if k != "bought"}


@pytest.mark.parametrize("name", COLUMNS)
def test_one_odd_cell_changes_what_is_bought_only_where_the_schema_is_marked(name):
    """Kind and form of a draft are read from all cells: what they decide is marked, and nothing else differs."""
    cells = COLUMNS[name]
    want = wanted(cells, known=True)
    before = learnt(cells, want)
    assert before.private
    for odd in ODD:
        assert plain(learnt([*cells, odd], want)) == plain(before), odd
        drafted = wanted([*cells, odd])
        if drafted is not None and replace(drafted, unconfirmed=False) != want:
            try:
                assert not learnt([*cells, odd], drafted).private, odd
            except BudgetError:
                assert drafted.kind == "categorical", odd  # so many different words that none stands out


@pytest.mark.parametrize(
    ("cells", "odd", "kind"),
    [
        ([True, False] * 1500, ["x", None, 1, 0.5], "categorical"),
        (list(range(100)) * 30, ["x", None, 0.5, True, 10**30], "integer"),
        ([i / 2 for i in range(100)] * 30, ["x", None, 7, float("nan"), float("inf")], "float"),
        ([*range(3)] * 1000, ["x", None, 0.5], "categorical"),
        (DAYS, ["x", None, 7, datetime.datetime(2003, 5, 5, 10)], "date"),
    ],
)
def test_the_type_that_one_cell_gives_a_column_does_not_change_what_is_bought(cells, odd, kind):
    want = Wanted(name="a", kind=kind)
    before = learnt(cells, want)
    for one in odd:
        assert plain(learnt([*cells, one], want)) == plain(before), one


def test_what_is_bought_for_a_drafted_form_says_so_until_a_person_confirms_it():
    cells = COLUMNS["amounts"]
    found = learnt(cells, wanted(cells))
    assert found["a"].source == "bought-unconfirmed"
    assert found.reasons == ("the kind or the form of attribute 'a' was read from the data",)
    assert confirm(found, everything=True).private and confirm(found, everything=True)["a"].written == "$12.56"
    assert learnt(cells, wanted(cells, known=True)).private


def test_one_cell_cannot_write_more_digits_into_a_form_than_are_public():
    found = amounts.recognised(pa.array([*COLUMNS["amounts"], "$1,234.567890123456789"]))
    assert found.digits == amounts.SEEN == 6
    assert amounts.form("$1.123456789012345").digits == amounts.MOST  # what a person types may have more


def test_a_form_that_cannot_be_read_is_refused_before_anything_is_charged():
    for wrong in ({"written": "abc"}, {"written": "$1.50", "kind": "integer"}, {"kind": "date", "formats": ("%q",)}):
        with pytest.raises(SchemaError):
            Wanted(**{"name": "a", "kind": "float", **wrong})
    with pytest.raises(SchemaError, match="does not show how dates are written"):
        formats_of("yesterday")


def test_the_example_of_a_date_tells_all_forms_apart_that_drafts_know():
    from dpsyn_core.schema.date_formats import DAYS, DIGITS, TIMES

    ways = [d + t for d, t in itertools.product(DAYS, TIMES)] + [w for w, _ in DIGITS]
    ways += [w.replace("%b", "%B") for w in ways if "%b" in w]
    assert len({example_of((w,)) for w in ways}) == len(ways)
    assert example_of(()) == "" and formats_of("31/12/2024") == ("%d/%m/%Y",) == formats_of("%d/%m/%Y")
    assert formats_of("2024-12-31") == ()
