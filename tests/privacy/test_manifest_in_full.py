"""Certificates line by line, and the fields of a manifest one by one, each from its own argument."""

import math
from dataclasses import replace

import pytest
from pydantic import ValidationError

from dpsyn_core.errors import EngineError, InputError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.manifest.certificates import MOST_LINES, certificate, citation
from dpsyn_core.privacy.manifest.manifest import Manifest, package_versions
from dpsyn_core.privacy.manifest.statement import (
    MOST_LISTED,
    AskedQuestions,
    Booking,
    Digests,
    HangingTable,
    Refit,
    StatedRule,
    TableDigests,
    UsedTable,
    guarantee,
)
from dpsyn_core.privacy.renyi import renyi_epsilon
from dpsyn_core.privacy.unit import Unit
from tests.privacy.test_certificate import GERMAN
from tests.privacy.test_manifest import charges, manifest

PAGE = """\
NOT PRIVATE - NO CERTIFICATE

NOT PRIVATE: the noise alone would give epsilon 1, delta 1e-13: differential privacy for one individual (named by \
'id', of whom at most 3 records are counted) more or less, but the reasons listed undo it.

Why this release is not private:
  - one
  - two

Promise
  epsilon              1
  delta                1e-13
  recomputed epsilon   0.00775178 (from the charges below)
  neighbours           add/remove: a neighbour has one individual more or less; the number of records is private
  individual           whom 'id' names; at most 3 of their records, enforced before counting
  zCDP cost            rho 1.12493e-06

Release
  dataset              census
  schema               adult (abababababababab)
  method               independent
    sweeps = chosen by the system
    update.polish = 1
    update.x = chosen by the system
  query                owner's word: that it reads each record by itself is not checked
  public table         before.csv (0123456789abcdef), 9 records, 2 columns
    the method was chosen by runs on it, among rls, mst
    owner's word: that it is public is not checked, and nothing here protects its records
  refit                by priview, from the release of the run above, which paid for it (fedcba9876543210); nothing \
was charged
    of records where   age > 3
    columns            age, sex
    with the rule      {"kind": "order"}
  records              12345
  ledger entry         r1
  post-processing seed 7; noise has no seed
  seconds              1.2

Every access to the data (6)
  marginal a x b: gaussian, sigma 3000.5, sensitivity 1.5, 12 cells, rho 1.25e-07
  total: gaussian, sigma 2000.25, sensitivity 1, 1 cell, rho 1.25e-07
  scores of pairs: geometric, scale 6000, sensitivity 3, 45 cells, epsilon 0.0005
  largest scores of 2: exponential, sensitivity 2, 7 cells, epsilon 0.001
  values of x: partition-selection, scale 1000, sensitivity 1, 0 cells, epsilon 0.001, delta 1e-14
  means: gaussian, sigma 2000 times sensitivity, 1 cell, rho 1.25e-07

Bought earlier for the schema (1)
  range of a: geometric, scale 500, sensitivity 1, 9 cells, epsilon 0.002
  release and schema together: epsilon 0.00975178 at delta 1e-13

Versions
  dpsyn-studio 9.9
  numpy 1.2
"""


def charge(**given):
    return Charge(**{"name": "a", "sensitivity": 1.0, "scale": 2.0, "cells": 1} | given)


SEVERAL = [
    charge(name="marginal a x b", mechanism="gaussian", sensitivity=1.5, scale=3000.5, cells=12, rho=1.24958e-7),
    charge(name="total", mechanism="gaussian", scale=2000.25, rho=0.5 / 2000.25**2),
    charge(name="scores of pairs", mechanism="geometric", sensitivity=3.0, scale=6000.0, cells=45, epsilon=5e-4),
    charge(name="largest scores of 2", mechanism="exponential", sensitivity=2.0, scale=0.0, cells=7, epsilon=1e-3),
    charge(name="values of x", mechanism="partition-selection", scale=1e3, cells=0, epsilon=1e-3, delta=1e-14),
    charge(name="means", mechanism="gaussian", sensitivity=4.0, scale=8000.0, rho=1.25e-7, kind="sum"),
]
PUBLIC = UsedTable(
    name="before.csv", sha256="0123456789abcdef" * 4, n_records=9, columns=("age", "sex"), candidates=("rls", "mst")
)
AGAIN = Refit(
    release="fedcba9876543210" * 4, method="priview", where="age > 3", columns=("age", "sex"),
    rules=({"kind": "order"},),
)  # fmt: skip


def full():
    made = manifest(
        charges=SEVERAL, budget=Budget(epsilon=1.0, delta=1e-13), unit=Unit(identifier="id", max_records=3),
        bought=[charge(name="range of a", mechanism="geometric", scale=500.0, cells=9, epsilon=0.002)], n_records=12345,
        query_vouched=True,
        settings={"sweeps": None, "update": {"polish": 1, "x": None}}, public_table=PUBLIC, refit=AGAIN,
        reasons=("one", "two"),
    )  # fmt: skip
    return made.model_copy(update={"versions": {"dpsyn-studio": "9.9", "numpy": "1.2"}})


def test_a_certificate_states_everything_that_a_manifest_has_line_by_line():
    assert certificate(full()) == PAGE


def rows(made, words=None):
    """The lines of a certificate by their label; of what has none, the lines themselves."""
    lines = certificate(made, *([words] if words else [])).split("\n")
    return {line[2:22].strip(): line[23:] for line in lines if line.startswith("  ") and line[22:23] == " "}


def test_a_german_certificate_has_german_numbers_and_a_note_below_its_promise():
    assert rows(full(), GERMAN)["zCDP-Kosten"] == "rho 1,12493e-06" and rows(full(), GERMAN)["Sekunden"] == "1,2"
    lines = certificate(full(), GERMAN).split("\n")
    assert lines[3] == GERMAN["note"] and lines[4] == "" and lines[2].startswith("NICHT GESCHÜTZT: Das Rauschen")
    many = manifest(charges=charges(shares=[1.0 + i for i in range(MOST_LINES + 1200)])[: MOST_LINES + 300])
    assert GERMAN["more"].format(count="300") in certificate(many, GERMAN)
    alike = [charge(name=f"c{i}", mechanism="gaussian", scale=3e4, rho=0.5 / 9e8) for i in range(1235)]
    assert "c0, und 1.234 weitere" in certificate(manifest(charges=alike), GERMAN)
    assert "c0, and 1,234 more, each: gaussian" in certificate(manifest(charges=alike))


@pytest.mark.parametrize("count", [MOST_LINES - 1, MOST_LINES, MOST_LINES + 1])
def test_forty_charges_and_forty_rules_stand_by_themselves_and_more_are_counted(count):
    rules = [StatedRule(rule=f"a{i} <= b", vouched="owner's word") for i in range(count)]
    equal = manifest(charges=charges(shares=[1.0] * count))
    apart = manifest(charges=charges(shares=[1.0 + i for i in range(count)]), rules=rules)
    text, more = certificate(apart), max(0, count - MOST_LINES)
    assert text.count("marginal a") == text.count(" <= b: the owner") == count - more
    assert text.count(f"  ... and {more} more, all in the manifest's JSON\n") == (2 if more else 0)
    assert certificate(equal).count("marginal a") == (1 if more else count)
    assert f"Every access to the data ({count})\n" in text and f"({count})\n  a0 <= b" in text


def test_costs_are_stated_in_the_currency_of_the_run():
    mu = manifest().mu
    assert rows(manifest())["exact Gaussian cost"] == f"mu {mu:.6g} (rho {mu * mu / 2:.6g})"
    step = charge(
        name="s", mechanism="sampled-gaussian", sensitivity=0.5, scale=9.0, cells=4, sampling=0.01, steps=50,
        kind="training",
    )  # fmt: skip
    free = manifest(charges=[step])
    found = rows(free)
    assert "Gaussian cost" not in found and "zCDP cost" not in found
    bound = renyi_epsilon([step], 1e-9)
    assert found["Renyi accounting"] == f"{bound:.6g} (a second, coarser bound)"
    assert "  s: sampled-gaussian, sigma 18 times the clip norm, 4 cells, 50 steps on samples of 0.01\n" in certificate(
        free
    )
    plain = certificate(manifest(charges=[replace(step, kind=None)]))
    assert "  s: sampled-gaussian, sigma 9, sensitivity 0.5, 4 cells, 50 steps on samples of 0.01\n" in plain
    assert "Renyi accounting" not in rows(manifest())
    nothing = manifest(charges=[], reasons=("x",))
    assert "Gaussian cost" not in rows(nothing) and "exact Gaussian cost" not in rows(nothing)
    assert "Every access to the data (0)\n  none\n" in certificate(nothing)


def test_who_is_protected_stands_in_the_promise_and_in_its_row():
    tables = (HangingTable(table="visits", max_children=3), HangingTable(table="stays", max_children=1))
    named = Unit(identifier="id", max_records=4)
    listed = "at most 3 of 'visits', at most 1 of 'stays'"
    made = manifest(unit=named, hanging=tables)
    assert rows(made)["individual"] == f"whom 'id' names, with all that hangs on it: {listed}, enforced before counting"
    assert made.guarantee == (
        "Epsilon 1, delta 1e-09: differential privacy for one individual (named by 'id', with all that hangs on it, of "
        f"which {listed} are counted) more or less."
    )
    assert rows(manifest(unit=Unit(max_records=2)))["individual"].startswith("holds at most 2 records, as the owner")
    assert rows(manifest(unit=Unit()))["individual"] == "each record"
    assert rows(manifest(unit=Unit(neighbours="replace")))["neighbours"].startswith("replace: a neighbour has one")
    budget = Budget(epsilon=0.5, delta=0.0)
    assert guarantee(budget, Unit(max_records=2, neighbours="replace")) == (
        "Epsilon 0.5 (pure): differential privacy for one individual (who is said to hold at most 2 records) "
        "exchanged for another."
    )
    assert guarantee(budget, Unit(), private=False, noisy=False).startswith("NOT PRIVATE: no noise was added")
    assert guarantee(budget, Unit(), by="an office") == (
        "NOT PRIVATE by any proof here: the tables are those of an office, whose own statement is epsilon 0.5, "
        "delta 0 for one record (each is an individual)."
    )


def test_a_refit_of_the_tables_of_others_and_declared_questions_have_their_lines():
    others = manifest(refit=AGAIN.model_copy(update={"by": "an office", "where": None, "columns": None, "rules": ()}))
    found = rows(others)
    assert found["refit"] == "by priview, from the release of others (fedcba9876543210); nothing was charged"
    assert not {"of records where", "columns", "with the rule"} & set(found)
    assert others.promise_faults() == ()
    asked = AskedQuestions(sha256="0" * 64, share=0.125, document={"questions": [1, 2, 3]})
    asked = asked.model_copy(update={"sha256": asked.digest()})
    made = manifest().model_copy(update={"questions": asked})
    assert made.faults() == ()
    assert rows(made)["questions"] == f"3 ({asked.digest()[:16]}), 12.5 % of what pairs of columns would get"
    wrong = made.model_copy(update={"questions": asked.model_copy(update={"share": 1.0, "document": {}})})
    assert wrong.faults() == ("its questions are not those of its hash",)
    assert rows(wrong)["questions"].startswith("0 (")
    assert rows(manifest(seed=None))["post-processing seed"] == "none recorded; noise has no seed"


def test_a_citation_names_the_table_its_run_and_what_it_promises():
    made = manifest(n_records=12345, booking=Booking("census", "0123456789abcdefgh")).model_copy(
        update={"versions": {"dpsyn-studio": "9.9"}}
    )
    start = (
        "The synthetic table census (12,345 records) was made in 2031 with DPSyn Studio 9.9 by the system independent, "
        "from the schema adult. "
    )
    run = made.guarantee.removesuffix(".") + " (run 0123456789abcdef"
    assert citation(made, 2031) == f"{start}{run})."
    written = made.written(Digests(content="fe" * 32))
    assert citation(written, 2031) == f"{start}{run}, SHA-256 of the content fefefefefefefefe)."
    assert "It is not private: no guarantee" in citation(manifest(reasons=("x",)), 2031)
    assert "Studio  by" in citation(made.model_copy(update={"versions": {}}), 2031)
    assert "(12.345 Datensätze)" in citation(made, 2031, GERMAN)


def test_every_field_of_a_manifest_comes_from_its_own_argument():
    unit, facts = Unit(neighbours="replace", max_records=3, identifier="id"), {"name": "people", "digest": "cd" * 32}
    rules, tables = (StatedRule(rule="a <= b", vouched="bought"),), (HangingTable(table="t", max_children=2),)
    made = manifest(
        unit=unit, budget=Budget(epsilon=2.0, delta=1e-7), booking=Booking("d", "r", "chain"), method="mst", seed=None,
        seconds=1.26, settings={"a": (1, 2)}, refit=AGAIN, rules=rules, hanging=tables, reasons=("x", "y", "x"),
        query_vouched=True, public_table=PUBLIC, bought=charges(shares=(1.0,)), **facts,
    )  # fmt: skip
    expected = {
        "version": 3, "private": False, "not_private_because": ("x", "y"), "epsilon": 2.0, "delta": 1e-7,
        "neighbours": "replace", "max_records": 3, "identifier": "id", "hanging": tables, "dataset": "d", "run_id": "r",
        "ledger_chain": "chain", "schema_name": "people", "schema_hash": "cd" * 32, "method": "mst", "seed": None,
        "settings": {"a": [1, 2]}, "query": "owner's word", "public_table": PUBLIC, "rules": rules, "n_records": 100,
        "columns": (), "refit": AGAIN, "versions": package_versions(), "digests": None, "signature": None,
        "seconds": 1.3, "questions": None,
    }  # fmt: skip
    assert {k: getattr(made, k) for k in expected} == expected
    assert [c.name for c in made.charges] == ["marginal a0", "marginal a1"] and len(made.bought) == 1
    assert made.rho == pytest.approx(made.mu**2 / 2) == pytest.approx(sum(c.rho for c in made.charges))
    assert manifest().query is None and manifest(settings={"a": 1}).settings == {"a": 1}


@pytest.mark.parametrize(("own", "earlier", "grouped"), [(MOST_LISTED - 1, 1, False), (MOST_LISTED - 1, 2, True)])
def test_charges_are_grouped_from_the_number_on_that_is_documented(own, earlier, grouped):
    def some(count):
        return [charge(name="marginal a", mechanism="gaussian", scale=1e4, rho=0.5e-8) for _ in range(count)]

    made = manifest(charges=some(own), bought=some(earlier))
    document = made.model_dump(mode="json")
    assert made.columns == (("a",) if grouped else ())
    assert len(document["charges"]) == (1 if grouped else own) and ("columns" in document) == grouped
    assert len(document["bought"]) == (1 if grouped else earlier)
    assert Manifest.model_validate(document) == made
    if not grouped:
        with pytest.raises(ValidationError, match="columns belong to documents"):
            Manifest.model_validate(document | {"columns": ["a"]})


@pytest.mark.parametrize(("factor", "covered"), [(1 - 1e-9, True), (1 + 1e-9, False)])
def test_numbers_that_do_not_follow_from_the_charges_are_faults(factor, covered):
    made = manifest()
    for field in ("mu", "rho"):
        for near, fits in ((1 + 0.9e-6, True), (1 - 0.9e-6, True), (1 + 1.2e-6, False), (0.0, False)):
            changed = made.model_copy(update={field: getattr(made, field) * near})
            assert changed.faults() == (() if fits else ("its mu and rho are not those of its charges",))
        assert made.model_copy(update={field: None}).faults() == ("its mu and rho are not those of its charges",)
    least = made.model_copy(update={"epsilon": made.epsilon / factor})
    assert (least.faults() == ()) == covered
    dear = made.charges[0].model_copy(update={"rho": made.charges[0].rho * (1 - 1e-8)})
    assert (
        made.model_copy(update={"charges": (dear, made.charges[1])}).faults()[0].startswith("the charge 'marginal a0'")
    )


def test_nobody_signs_a_promise_that_is_not_that_of_the_numbers():
    made = manifest()
    assert made.promise_faults() == manifest(reasons=("x",)).promise_faults() == ()
    for changes in ({"max_records": 2}, {"epsilon": 2.0}, {"identifier": "id"}, {"private": False}):
        assert len(made.model_copy(update=changes).promise_faults()) == 1
    bare = manifest(charges=[])
    assert bare.promise_faults() == (
        "the manifest states a guarantee, and no charge at all: nothing in the table was paid for",
    )
    assert manifest(charges=[], reasons=("x",)).promise_faults() == ()
    with pytest.raises(InputError, match="contradicts itself"):
        bare.signed(None)


def test_the_noise_of_the_number_of_records_is_that_of_all_tables_by_their_precision():
    made = manifest(
        charges=[
            charge(name="total", mechanism="gaussian", scale=300.0, rho=0.5 / 300**2, kind="total"),
            charge(name="marginal t.a", mechanism="gaussian", scale=200.0, cells=4, rho=0.5 / 200**2, kind="1-way"),
            charge(name="marginal u.b", mechanism="geometric", scale=200.0, cells=3, epsilon=0.005, kind="1-way"),
            charge(name="scores", mechanism="gaussian", scale=100.0, cells=1, rho=0.5e-4, kind="scores"),
            charge(name="cells", mechanism="exponential", scale=0.0, epsilon=0.01, kind="1-way"),
        ]
    )
    total, first, second = 300.0**2, 4 * 200.0**2, 3 * 2 * 200.0**2
    noise = 1 / math.sqrt(1 / total + 1 / first + 1 / second)
    assert made.noise_of_records() == pytest.approx(noise)
    assert made.noise_of_records("t") == pytest.approx(math.sqrt(first))
    assert made.noise_of_records("v") == math.inf
    for records, empty in ((math.floor(4 * noise), True), (math.ceil(4 * noise), False)):
        assert made.model_copy(update={"n_records": records}).nearly_empty == empty
    assert not manifest(charges=[], n_records=0).nearly_empty
    exact = manifest(charges=[charge(name="total", mechanism="gaussian", scale=16.0, rho=0.5 / 256, kind="total")])
    assert not exact.model_copy(update={"n_records": 64}).nearly_empty
    assert exact.model_copy(update={"n_records": 63}).nearly_empty


def test_more_files_of_a_table_are_named_each_where_it_belongs():
    parts = (TableDigests(content="a"), TableDigests(content="b", files={"tsv": "t"}))
    made = manifest().written(Digests(content="c", files={"tsv": "x"}, tables=parts))
    more = made.written_too({"csv": "y"}, ["1", "2"])
    assert more.digests.files == {"tsv": "x", "csv": "y"} and more.digests.content == "c"
    assert [t.files for t in more.digests.tables] == [{"csv": "1"}, {"tsv": "t", "csv": "2"}]
    assert made.written(Digests()).written_too({"csv": "y"}, ["1", "2"]).digests == Digests(files={"csv": "y"})
    for refused in (manifest(), made.model_copy(update={"signature": "x"})):
        with pytest.raises(EngineError, match="takes no more digests"):
            refused.written_too({"csv": "y"})


@pytest.mark.parametrize(("records", "exchanged"), [(2, False), (1, True), (3, True)])
def test_noise_on_samples_must_be_accounted_for_as_many_records_and_the_same_neighbours(records, exchanged):
    step = charge(
        name="s", mechanism="sampled-gaussian", scale=500.0, sampling=0.01, steps=5, delta=1e-10, records=records,
        exchanged=exchanged,
    )  # fmt: skip
    for most in (1, 2, 3):
        for neighbours in ("add-remove", "replace"):
            unit = Unit(max_records=most, neighbours=neighbours)
            if (most, neighbours == "replace") == (records, exchanged):
                assert manifest(charges=[step], unit=unit).max_records == most
            else:
                with pytest.raises(EngineError, match="another unit"):
                    manifest(charges=[step], unit=unit)
