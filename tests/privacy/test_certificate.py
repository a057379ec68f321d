"""The certificate in words: the same structure in every language, and the promise that the manifest states."""

import re

import pytest

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.manifest.certificates import ENGLISH, certificate, promise
from dpsyn_core.privacy.unit import Unit
from tests.privacy.test_manifest import charges, manifest
from ui.shared.text import written

GERMAN = {k: written("de").get(f"certificate.{k}", v) for k, v in ENGLISH.items()}
CASES = [
    {}, {"unit": Unit(neighbours="replace")}, {"unit": Unit(max_records=3)},
    {"unit": Unit(identifier="id", max_records=3)}, {"unit": Unit(identifier="id")},
    {"reasons": ("a column was read",)},
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_promise_that_is_made_of_parts_is_the_one_of_the_manifest(case):
    made = manifest(**case)
    assert promise(made, {**ENGLISH, "promise": "parts"}) == made.guarantee


@pytest.mark.parametrize("case", CASES)
def test_every_number_of_the_english_certificate_stands_in_the_german_one(case):
    made = manifest(charges=charges(shares=[1.0 + i for i in range(60)]), **case)
    english, german = certificate(made), certificate(made, GERMAN)
    figure = r"\d[\d.,]*(?:e-\d+)?"
    numbers = [
        re.findall(figure, part.partition("Versions")[0]) for part in (english, german.replace("Versionen", "Versions"))
    ]
    plain = [n.rstrip(".,") for n in numbers[0]]
    assert [n.rstrip(".,").translate(str.maketrans(",.", ".,")) for n in numbers[1]] == plain
    assert not re.search(
        r"\b(the|of|each|record|noise)\b", german.partition("Versionen")[0].replace("a column was read", "")
    )


def test_the_certificate_of_a_pure_run_says_so():
    made = manifest(budget=Budget(epsilon=0.5, delta=0), charges=[], reasons=("x",))
    assert promise(made, GERMAN).startswith("NICHT PRIVAT: Es wurde kein Rauschen")
