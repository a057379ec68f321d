"""Years: numbers that are written without marks between thousands, 2019 and not 2,019."""

from __future__ import annotations

import re

FIRST, LAST = 1000, 3000  # years have four digits
# year, modelYear, yr_built, Baujahr, Jahrgang; not yearly or jahresumsatz, which are amounts
YEAR = re.compile(
    r"(?<![A-Za-z])(?:years?|yr|jahre?|jahrgang|born|built|founded|established|geboren|erbaut|gebaut|gegründet|"
    r"renovated|renoviert|saniert|published|joined|opened|eröffnet)(?![a-z])|[a-z]jahr(?![a-z])",
    re.IGNORECASE,
)
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def is_year(column: str, *values: float) -> bool:
    """Whether these numbers of a column are years: its header says so, and they have four digits."""
    return all(FIRST <= x < LAST for x in values) and YEAR.search(CAMEL.sub(" ", column)) is not None
