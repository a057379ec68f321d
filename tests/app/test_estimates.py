"""Forecasts of runs hold what was measured, for every system that the registry knows."""

from itertools import pairwise

import numpy as np
import pytest

from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import MethodConfig
from dpsyn_core.systems.registry import config_class, names
from dpsyn_core.systems.settings import Size
from tests.app_driver import at_page, words
from ui.synthesize.estimates import START, forecast
from ui.synthesize.runs import bar

CELLS = 0.00805  # millions of cells of all pairs of the sample's 14 attributes
# processor seconds of one thread and peak megabytes by `python -m benchmarks.estimates`: (method, records, attributes)
MEASURED = {
    ("rls", 2_000, 14): (0.86, 291), ("rls", 20_000, 7): (2.10, 292), ("rls", 20_000, 14): (2.18, 301),
    ("rls", 20_000, 28): (2.81, 306), ("rls", 100_000, 14): (6.99, 331),
    ("independent", 20_000, 7): (0.82, 290), ("independent", 20_000, 14): (0.93, 296),
    ("independent", 20_000, 28): (0.71, 304), ("independent", 100_000, 14): (0.86, 336),
    ("dpsyn", 2_000, 14): (0.95, 288), ("dpsyn", 20_000, 7): (0.84, 292), ("dpsyn", 20_000, 14): (1.18, 296),
    ("dpsyn", 20_000, 28): (1.90, 303), ("dpsyn", 100_000, 14): (2.74, 335),
    ("privsyn", 2_000, 14): (0.81, 286), ("privsyn", 20_000, 7): (0.86, 296), ("privsyn", 20_000, 14): (1.19, 305),
    ("privsyn", 20_000, 28): (2.10, 310), ("privsyn", 100_000, 14): (3.59, 330),
    ("mst", 2_000, 14): (1.11, 283), ("mst", 20_000, 7): (1.49, 290), ("mst", 20_000, 14): (1.91, 294),
    ("mst", 20_000, 28): (2.82, 301), ("mst", 100_000, 14): (2.07, 326),
    ("aim", 2_000, 14): (3.07, 284), ("aim", 20_000, 7): (2.01, 300), ("aim", 20_000, 14): (9.33, 307),
    ("aim", 20_000, 28): (26.61, 302), ("aim", 100_000, 14): (32.84, 352),
    ("privbayes", 20_000, 7): (0.78, 293), ("privbayes", 20_000, 14): (0.82, 293),
    ("privbayes", 20_000, 28): (1.01, 299), ("privbayes", 100_000, 14): (1.49, 370),
    ("priview", 20_000, 7): (0.93, 293), ("priview", 20_000, 14): (1.70, 310), ("priview", 20_000, 28): (1.45, 295),
    ("priview", 100_000, 14): (2.40, 333),
    ("dpsyn-2018", 20_000, 7): (1.06, 294), ("dpsyn-2018", 20_000, 14): (1.59, 309),
    ("dpsyn-2018", 20_000, 28): (1.79, 307), ("dpsyn-2018", 100_000, 14): (3.25, 343),
}  # fmt: skip


def forecast_of(method, size):
    return forecast(config_class(method)(), size)


def size(n, d):
    return Size(records=n, out=n, attributes=d, cells=CELLS * d * d / 196)


@pytest.mark.parametrize(("method", "n", "d"), MEASURED)
def test_what_was_measured_lies_in_the_range_and_its_middle_is_within_a_factor_of_two(method, n, d):
    cpu, megabytes = MEASURED[method, n, d]
    got = forecast_of(method, size(n, d))
    assert got.low <= START + cpu <= got.high
    assert 0.5 <= config_class(method)().seconds(size(n, d)) / cpu <= 2
    assert megabytes / 1.25 <= got.megabytes <= megabytes * 1.25


def test_a_million_records_take_what_the_large_job_took():
    """13.5 s by `rls` in two threads, 19.7 s by `dpsyn`, 548 MB: the table of docs/evidence/figures.md."""
    large = Size(records=1_000_000, out=1_000_000, attributes=14, cells=0.02)
    assert forecast_of("rls", large).low / 2 < 13.5 < forecast_of("rls", large).high
    assert forecast_of("dpsyn", large).low < 19.7 < forecast_of("dpsyn", large).high
    assert forecast_of("dpsyn", large).megabytes == pytest.approx(548, rel=0.1)


def test_fine_bins_of_numbers_are_no_cells_of_pairs():
    """20,000 records of 120 categories and 80 numbers of 880 bins took 59 s of processor and 568 MB by `rls`."""
    wide = Domain.of({f"c{i}": 6 for i in range(120)} | {f"n{i}": 880 for i in range(80)})
    got = forecast_of("rls", Size.of(wide, 20_000))
    assert got.low < 59 < 1.5 * got.high and got.megabytes == pytest.approx(568, rel=0.1)
    assert forecast_of("independent", Size.of(wide, 20_000)).megabytes < 500


@pytest.mark.parametrize("method", names())
def test_a_table_of_two_hundred_fine_numbers_has_an_estimate(method):
    wide = Domain.of({f"n{i}": 1000 for i in range(200)})
    got = forecast_of(method, Size.of(config_class(method)().working_domain(wide), 600))
    assert 0 < got.low < got.high < 1e12 and 250 < got.megabytes < 1e9


# low, high and megabytes of 20,000 records of 14 attributes with 8,050 cells of pairs, as they were before configs
# estimated their own runs
BEFORE = {
    "rls": (1.877, 5.424, 290.0),
    "dpsyn": (1.586, 4.585, 290.0),
    "privsyn": (1.685, 4.87, 290.0),
    "dpsyn-2018": (1.695, 4.897, 290.0),
    "priview": (1.702, 4.918, 290.0),
    "mst": (1.933, 5.588, 290.0),
    "aim": (5.768, 16.668, 290.0),
    "privbayes": (1.445, 4.177, 290.0),
    "mwem": (1.297, 3.748, 290.0),
    "independent": (1.348, 3.896, 290.0),  # since no pairs are counted for it
    "field-groups": (1.409, 4.071, 290.0),
    "dirichlet-multinomial": (1.409, 4.071, 290.0),
}


@pytest.mark.parametrize("name", names())
def test_every_system_has_a_forecast(name):
    got = forecast_of(name, size(20_000, 14))
    assert 0 < got.low < got.high < 3_600
    assert got.megabytes > 0


@pytest.mark.parametrize("name", BEFORE)
def test_forecasts_are_those_of_before(name):
    got = forecast_of(name, size(20_000, 14))
    assert (round(got.low, 3), round(got.high, 3), got.megabytes) == BEFORE[name]


def test_a_system_that_was_never_measured_has_a_forecast_too():
    class NewConfig(MethodConfig):
        def build(self, task):
            raise NotImplementedError

    assert forecast(NewConfig(), size(20_000, 14)).low > 0


def test_more_effort_takes_longer():
    usual, double = (config_class("rls")(effort=e).estimate(size(20_000, 14)).seconds for e in (1.0, 2.0))
    assert usual < double < 2 * usual


def test_the_forecast_of_the_largest_domain():
    small = Size(records=20_000, out=20_000, attributes=7, cells=0.002, domain=0.432)
    assert forecast_of("mwem", small).low <= START + 16.9 <= forecast_of("mwem", small).high


def test_the_page_shows_a_range(app):
    assert "1 – 6 s" in words(at_page(app, "synthesize"))


def test_the_bar_of_a_run_goes_by_its_forecast_never_back_and_is_never_full_before_the_end():
    """By its time where there is a forecast, also beyond it; by the stages passed where there is none."""
    for foretold in (0.5, 12.7, 400.0):
        shares = [bar(at, foretold, 3.0) for at in np.linspace(0.0, 20 * foretold, 400)]
        assert shares[0] == 0 and all(a < b < 1 for a, b in pairwise(shares))
        assert bar(foretold / 2, foretold, 0.0) == pytest.approx(0.45) and bar(
            foretold, foretold, 9.0
        ) == pytest.approx(0.9)
    stages = [bar(5.0, None, passed) for passed in np.linspace(0.0, 12.0, 100)]
    assert stages[0] == 0 and all(a < b < 1 for a, b in pairwise(stages))
    assert bar(500.0, None, 1.0) == bar(1.0, None, 1.0) == 0.25
