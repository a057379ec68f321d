"""Headers of courts, lenders, chemists, laboratories, polling stations and registers propose what people know."""

import pytest

from dpsyn_core.schema.rules.usual_rules import named_close, propose_rules
from tests.schema.helpers import cat, date, num, schema

SPAN = ("2020-01-01", "2021-01-01")


def days(*names, **more):
    return [date(n, *SPAN, "day", **more) for n in names]


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        (
            [*days("date_filed", "date_closed", missing=True), num("days_to_close", 0, 900, 9),
             cat("outcome", ["pending", "settled"])],
            {"date_filed <= date_closed", "days_to_close = date_closed - date_filed",
             "date_closed is blank where outcome = pending"},
        ),
        (days("issue_d", "maturity_d"), {"issue_d <= maturity_d"}),
        (
            [date("patient_dob", "1930-01-01", "2010-01-01", "year"), *days("date_written", "date_dispensed"),
             num("age_at_rx", 0, 120, 9)],
            {"date_written <= date_dispensed",
             "age_at_rx = completed years from patient_dob to date_written"},
        ),
        (days("Eingang", "Validiert"), {"Eingang <= Validiert"}),
        (
            [num(n, 0, 900, 9) for n in ("registered", "votes_cast", "invalid", "valid")],
            {"votes_cast <= registered", "valid <= votes_cast", "votes_cast = valid + invalid"},
        ),
        (
            [cat("PLZ", ["01067", "04109"]), cat("Ort", ["Dresden"]), num("Baujahr", 1800, 2024, 9),
             num("Sanierung", 1950, 2024, 9)],
            {"Ort follows from PLZ", "Baujahr <= Sanierung"},
        ),
    ],
)  # fmt: skip
def test_what_is_known_is_proposed(columns, wanted):
    assert {str(r) for r in propose_rules(schema(*columns))} >= wanted


def test_dates_of_a_prescription_and_of_a_sample_lie_close_together():
    assert named_close("date_written", "date_dispensed", precise=False)
    assert named_close("Eingang", "Validiert", precise=True)
    assert not named_close("date_filed", "date_closed", precise=False)
