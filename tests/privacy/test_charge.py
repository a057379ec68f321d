"""Charges: their public kinds, their records in a manifest, and records that state less than their noise costs."""

import math
from dataclasses import replace

import pytest
from pydantic import ValidationError

from dpsyn_core.privacy.charge import Charge, is_kind, is_table, table_kind
from dpsyn_core.privacy.charge_record import LEAST, MOST, WHOLE, ChargeRecord
from dpsyn_core.privacy.subsampling import sampled_mu, sampling_of

SAMPLES = Charge(
    name="s", mechanism="sampled-gaussian", sensitivity=2.0, scale=6.0, cells=3, sampling=0.02, steps=20, records=2,
    exchanged=True, delta=1e-9, kind="training",
)  # fmt: skip
CHARGES = [
    Charge(name="g", mechanism="gaussian", sensitivity=3.0, scale=6.0, cells=4, rho=0.125, kind="2-way"),
    Charge(name="l", mechanism="geometric", sensitivity=3.0, scale=6.0, cells=4, epsilon=0.5, rho=0.125),
    Charge(name="e", mechanism="exponential", sensitivity=3.0, scale=0.0, cells=4, epsilon=0.5, rho=0.03125),
    Charge(name="d", mechanism="dirichlet", sensitivity=3.0, scale=6.0, cells=4, epsilon=0.5),
    Charge(name="n", mechanism="partition-selection", sensitivity=3.0, scale=6.0, cells=4, rho=0.125, delta=1e-9),
    Charge(name="p", mechanism="partition-selection", sensitivity=3.0, scale=6.0, cells=4, epsilon=0.5, delta=1e-9),
    replace(SAMPLES, rho=sampled_mu(sampling_of(SAMPLES), 1e-9) ** 2 / 2),
]
GAUSSIAN = {"g", "n", "s"}


@pytest.mark.parametrize("charge", CHARGES, ids=lambda c: c.name)
def test_a_record_is_that_of_its_charge_and_a_cost_below_that_of_its_noise_is_wrong(charge):
    record = ChargeRecord.of(charge)
    assert record.charge() == charge and not record.wrong
    assert (record.sigma, record.scale) == ((charge.scale, None) if charge.name in GAUSSIAN else (None, charge.scale))
    cost = "rho" if charge.name in GAUSSIAN else "epsilon"
    for share, wrong in ((1 - 0.9e-9, False), (2.0, False), (1 - 1.1e-9, True), (0.5, True)):
        changed = record.model_copy(update={cost: getattr(record, cost) * share})
        assert changed.wrong == (wrong and charge.name not in {"e", "d"})  # of these the noise is not stated
    assert record.model_copy(update={cost: 0.0}).wrong


def test_noise_on_samples_without_a_delta_states_no_cost():
    free = ChargeRecord.of(replace(SAMPLES, delta=0.0))
    assert not free.wrong and free.model_copy(update={"rho": 1e-9}).wrong
    sampled = ChargeRecord.of(CHARGES[-1])
    assert sampled.model_copy(update={"steps": 10**7}).wrong  # more than is accounted
    for gone in ({"sigma": None}, {"sensitivity": 0.0}):
        assert sampled.model_copy(update=gone).wrong and free.model_copy(update=gone).wrong


def test_a_threshold_on_laplace_noise_states_its_scale():
    assert ChargeRecord.of(CHARGES[5]).model_copy(update={"scale": None}).wrong
    assert ChargeRecord.of(CHARGES[1]).model_copy(update={"scale": 0.0}).wrong


def test_a_charge_is_one_release_on_all_records_of_one_each_unless_it_says_otherwise():
    bare = Charge(name="x", mechanism="gaussian", sensitivity=1.0, scale=1.0, cells=1)
    said = {"rho": 0.0, "epsilon": 0.0, "delta": 0.0, "sampling": 1.0, "steps": 1, "records": 1, "exchanged": False}
    assert {k: getattr(bare, k) for k in said} == said and bare.kind is None
    read = ChargeRecord(name="x", mechanism="gaussian", sensitivity=1.0, sigma=1.0, cells=1, rho=0.5)
    assert read.charge() == replace(bare, rho=0.5)


@pytest.mark.parametrize(
    ("field", "fits", "refused"),
    [
        ("sensitivity", (0.0, MOST), (-1e-300, MOST * 1.01, math.nan)),
        ("sigma", (LEAST, MOST), (LEAST * 0.99, MOST * 1.01)),
        ("cells", (0, WHOLE), (-1, WHOLE + 1, 1.5)),
        ("rho", (0.0, MOST), (-1e-300, MOST * 1.01)),
        ("epsilon", (0.0, MOST), (-1e-300, MOST * 1.01)),
        ("delta", (0.0, math.nextafter(1, 0)), (-1e-300, 1.0)),
        ("sampling", (1e-300, 1.0), (0.0, 1.01)),
        ("steps", (1, WHOLE), (0, WHOLE + 1)),
        ("records", (1, WHOLE), (0, WHOLE + 1)),
        ("kind", ("a" * 40, "2-way"), ("a" * 41, "", "A")),
    ],
)
def test_a_record_holds_numbers_up_to_their_ends(field, fits, refused):
    assert (MOST, LEAST, WHOLE) == (1e100, 1e-100, 2**62)
    plain = ChargeRecord.of(CHARGES[0]).model_dump()
    for value in fits:
        assert getattr(ChargeRecord.model_validate(plain | {field: value}), field) == value
    for value in refused:
        with pytest.raises(ValidationError):
            ChargeRecord.model_validate(plain | {field: value})
    with pytest.raises(ValidationError, match="Extra"):
        ChargeRecord.model_validate(plain | {"more": 1})
    with pytest.raises(ValidationError, match="frozen"):
        ChargeRecord.model_validate(plain).cells = 5


@pytest.mark.parametrize("charge", CHARGES, ids=lambda c: c.name)
def test_noise_that_costs_are_divided_by_is_above_zero(charge):
    def refused(**changes):
        try:
            ChargeRecord.model_validate(ChargeRecord.of(charge).model_dump() | changes)
        except ValidationError as error:
            return "states a noise or a sensitivity of 0" in str(error)
        return False

    divided = charge.name in GAUSSIAN | {"l"}
    assert refused(sigma=None, scale=None) == refused(sigma=None, scale=LEAST / 2) == divided
    assert not refused(sigma=None, scale=LEAST)
    assert refused(sensitivity=0.0) == refused(sensitivity=LEAST / 2) == (charge.name == "s")
    assert not refused(sensitivity=LEAST)


def test_kinds_of_charges_are_public_words():
    assert [table_kind(k) for k in (0, 1, 12)] == ["total", "1-way", "12-way"]
    assert all(map(is_kind, ("total", "1-way", "10-way", "training")))
    assert not any(map(is_kind, ("", "-way", "0-way", "01-way", "1-ways", "x-way", "1-way-way")))
    assert all(map(is_table, ("total", "question", "group", "1-way")))
    assert not any(map(is_table, ("scores", None, "sum")))
