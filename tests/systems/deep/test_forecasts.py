"""What a run of a deep system is expected to take, against what runs took (python -m benchmarks.paper_presets)."""

import pytest

from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.settings import Size

MEASURED = {  # records, columns, processor seconds, peak megabytes
    "isolet": (7_017, 618, 80, 1_260),
    "mnist": (63_000, 785, 690, None),
    "credit": (256_326, 30, 1_700, None),
}


@pytest.mark.parametrize("name", MEASURED)
def test_the_forecast_of_a_preset_is_within_twice_what_its_run_took(name):
    records, columns, seconds, megabytes = MEASURED[name]
    size = Size(records=records, out=records, attributes=columns, cells=(32 * columns) ** 2 / 2e6)
    told = configure("p3gm", {"preset": f"paper-{name}", "target": "label"}).estimate(size)
    assert 0.5 < told.seconds / seconds < 2
    assert megabytes is None or 0.5 < told.megabytes / megabytes < 2


def test_cells_of_pairs_add_nothing_to_a_forecast_of_memory_for_none_are_counted():
    config = configure("p3gm", {})
    few, many = (Size(records=1000, out=1000, attributes=600, cells=c) for c in (1.0, 200.0))
    assert config.estimate(few) == config.estimate(many)
