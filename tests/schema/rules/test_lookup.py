"""What follows without a map: evidence of records and counts of values decide together."""

import numpy as np

from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.columns import PLAIN, RuleColumn
from dpsyn_core.schema.rules.repair import record_rules
from tests.schema.helpers import cat

CITIES, COUNTRIES = 8, 4
FOLLOWS = {"kind": "follows", "column": "country", "of": ["city"]}
BACK = {"kind": "follows", "column": "city", "of": ["country"]}


def found(city, country, rules, countries=COUNTRIES):
    attributes = [cat("city", [f"c{i}" for i in range(CITIES)]), cat("country", [f"l{i}" for i in range(countries)])]
    schema = Schema.of({"version": 1, "name": "t", "rules": rules, "attributes": attributes})
    group = {
        n: RuleColumn(schema[n], np.asarray(v), np.full(len(v), PLAIN, dtype=np.uint8))
        for n, v in (("city", city), ("country", country))
    }
    lookup = record_rules(schema.rules, group, np.ones(len(city), dtype=bool))[0]
    return dict(zip(lookup.keys.tolist(), lookup.targets.tolist(), strict=True))


def test_a_city_that_noise_gave_another_country_gets_the_one_that_has_room():
    city = np.repeat(np.arange(CITIES), 200)
    country = city % COUNTRIES
    country[1400:1540] = 0  # of 200 records of the last city, 140 say another country,
    for k, there in ((0, 1), (4, 2), (1, 3), (2, 3)):  # while records of others say another one, so that counts stay
        country[np.flatnonzero(city == k)[:70]] = there
    expected = {i: i % COUNTRIES for i in range(CITIES)}
    assert found(city, country, [FOLLOWS]) == expected


def test_two_codes_exchange_their_names_where_fewer_records_then_change():
    city = np.repeat(np.arange(CITIES), 200)
    country = city.copy()
    country[1200:1320] = 7  # 120 of 200 records of one code have the name of the next,
    country[1400:1420] = 6  # which 180 of 200 records of the next have too
    assert found(city, country, [FOLLOWS, BACK], CITIES) == {i: i for i in range(CITIES)}


def test_where_nothing_fits_better_each_city_keeps_what_its_records_say():
    rng = np.random.default_rng(1)
    city = np.repeat(np.arange(CITIES), 100)
    right = rng.permutation(np.arange(CITIES)) % COUNTRIES
    country = np.where(rng.random(len(city)) < 0.8, right[city], rng.integers(0, COUNTRIES, len(city)))
    assert found(city, country, [FOLLOWS]) == dict(enumerate(right.tolist()))
