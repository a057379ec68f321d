"""What was paid for is released: every charged marginal of every system is a row, with the noise of its charge."""

from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import coarse_shape, coarsen
from dpsyn_core.estimate.marginals.released_file import dump_measurements, load_measurements
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.releases import sigma_of
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.charge import is_table
from dpsyn_core.schema.domain import CodedAttribute, Domain
from dpsyn_core.systems.registry import config_class, configure, names
from tests.seeded import SeededNoise
from tests.systems.harness import PlainCounter, random_codes, task_for
from tests.systems.test_contract import MINI, supported

SIZES = {"a": 3, "b": 2, "c": 4, "d": 120}
N = 400
# systems that release no marginal with their usual settings; each says why (`MethodConfig.no_marginals`)
WITHOUT = {"dirichlet-multinomial"}
GROUPED = {"groups": [{"name": "g", "attributes": ["a", "c"]}]}
# settings by which a system measures something else than usual
OTHER = [
    ("privsyn", {"scores": "released", "low_count": 100.0}),
    ("mst", {"marginals": ("a+b", "b+c+d")}),
    ("mst", {"rare": 50.0}),
    ("aim", {"rare": 50.0}),
    ("priview", {"strategy": "direct"}),
    ("priview", {"strategy": "random"}),
    ("dpsyn-2018", {"rare_sigmas": 50.0}),
    ("dpsyn-2018", {"design": GROUPED}),
    ("dpsyn-2018", {"design": GROUPED | {"marginals": [{"epsilon": 0, "sets": [["g", "b"], ["c", "d"]]}]}}),
    ("dpsyn-2018", {"design": {"bins": [{"attribute": "d", "width": 30}]}}),
    ("dpsyn-2018", {"design": {"functional": [{"target": "b", "source": "a"}]}}),
    ("dpsyn-2018", {"design": {"patterns": [{"name": "p", "attributes": ["b", "c"]}]}}),
]  # fmt: skip


def measured(name, *, settings=None, neighbours=None, pure=None, noise=None, n=N, epsilon=2.0):
    """A system, its gate, the codes that it saw, and the tables that it releases; `d` is a number of many bins."""
    task = task_for(name, SIZES, n, neighbours=neighbours, pure=pure, epsilon=epsilon)
    numbered = replace(task.domain[next(reversed(SIZES))], number=True, ordered=True)
    task = replace(task, domain=Domain((*task.domain.attributes[:-1], numbered)))
    system = configure(name, MINI.get(name, {}) | (settings or {})).calibrate(task)
    gate = Gate(account=Account(system.cost, delta=system.failure), noise=noise or SeededNoise(1), unit=task.unit)
    codes = random_codes(SIZES, n)
    got = system.measure(PlainCounter(codes, task.domain), gate=gate)
    return system, gate, codes, task.domain, system.measurements(got)


def check_rows(gate, released):
    paid, rows = [c for c in gate.account.charges if is_table(c.kind)], [*released, *released.joint]
    assert len(rows) == len(paid) > 0
    assert sorted(m.sigma for m in rows) == pytest.approx(sorted(sigma_of(c) for c in paid))
    assert sorted(m.cells for m in rows) == sorted(c.cells for c in paid)
    assert {m.law for m in rows} == {c.mechanism for c in paid}


@pytest.mark.parametrize(("name", "neighbours", "pure"), list(supported()))
def test_a_system_releases_as_many_tables_as_it_charged_with_the_noise_of_their_charges(name, neighbours, pure):
    _, gate, _, _, released = measured(name, neighbours=neighbours, pure=pure)
    if name in WITHOUT:
        assert released == []
        assert configure(name, {}).no_marginals
        return
    assert not configure(name, {}).no_marginals
    check_rows(gate, released)


@pytest.mark.parametrize(("name", "settings"), OTHER)
def test_so_it_does_with_settings_that_measure_something_else(name, settings):
    _, gate, _, _, released = measured(name, settings=settings)
    check_rows(gate, released)


@pytest.mark.parametrize(
    ("name", "settings"), [*((n, {}) for n in names() if n not in WITHOUT), *OTHER, ("priview", {"strategy": "cover"})]
)
def test_a_released_table_without_noise_is_the_marginal_that_it_names(name, settings):
    _, _, codes, domain, released = measured(name, settings=settings, noise=SeededNoise(scale=0.0), epsilon=20.0)
    for m in released:
        assert m.attributes == domain.ordered_set(m.attributes)
        exact = PlainCounter(codes, domain).marginal(m.attributes).astype(np.float64)
        assert np.array_equal(coarsen(exact, m.attributes, m.recodes), m.values)
    assert bool(released.joint) == (settings == {"design": GROUPED})
    for j in released.joint:
        cells = [on_axis(a, codes, domain) for a in j.axes]
        exact = np.zeros(j.values.shape)
        np.add.at(exact, tuple(cells), 1)
        assert np.array_equal(exact, j.values)


def on_axis(axis, codes, domain):
    """The cell of every record on an axis that stands for several attributes."""
    merged = [codes[domain.index(n)] for n in axis.attributes]
    merged = [axis.recodes[n].map[c] if n in axis.recodes else c for n, c in zip(axis.attributes, merged, strict=True)]
    return axis.recode.map[np.ravel_multi_index(merged, coarse_shape(domain, axis.attributes, axis.recodes))]


def test_ten_dates_that_are_missing_together_are_released_without_a_table_of_all_their_days(tmp_path):
    """Seen to fail after the charge: 367 days to the power of ten were to be listed."""
    days, n = 366, 500
    rng = np.random.default_rng(5)
    there = rng.random((10, n)) < np.linspace(0.99, 0.4, 10)[:, None]
    codes = np.vstack([np.where(there, rng.integers(0, days, n), days), rng.integers(0, 3, n)]).astype(np.uint16)
    dates = [CodedAttribute(name=f"date{i}", size=days + 1, ordered=True, special=1) for i in range(10)]
    domain = Domain((*dates, CodedAttribute(name="kind", size=3)))
    design = {
        "patterns": [{"name": "dates", "attributes": [d.name for d in dates], "shared": True}],
        "marginals": [{"epsilon": 0, "sets": [["dates", "kind"]]}],
    }
    task = replace(task_for("dpsyn-2018", {"kind": 3}, n, epsilon=20.0), domain=domain)
    system = configure("dpsyn-2018", {"design": design}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(scale=0.0), unit=task.unit)
    released = system.measurements(system.measure(PlainCounter(codes, domain), gate=gate))
    dump_measurements(tmp_path / "m.json.gz", released)
    read = load_measurements(tmp_path / "m.json.gz", domain)
    (table,) = [j for j in read.joint if len(j.axes) == 2]
    exact = np.zeros(table.values.shape)
    np.add.at(exact, tuple(on_axis(a, codes, domain) for a in table.axes), 1)
    assert np.array_equal(exact, table.values)
    assert table.axes[0].recode.map.size == 2**10


@pytest.mark.parametrize("name", ["pgm", "vae"])
def test_a_system_that_adds_no_noise_releases_no_table_of_exact_counts(name):
    config = configure(name, {"not_private": True})
    assert "adds no noise" in config.no_marginals


def test_single_counts_are_no_marginals_and_the_settings_say_so():
    _, gate, _, _, released = measured("mwem", settings={"kind": "queries"})
    assert released == []
    assert not any(is_table(c.kind) for c in gate.account.charges)
    assert "single counts" in config_class("mwem")(kind="queries").no_marginals


def test_coefficients_give_tables_that_say_that_they_share_their_noise():
    sizes = {f"a{i}": 2 for i in range(5)}
    task = task_for("priview", sizes, N, grouped=False)
    system = configure("priview", {"strategy": "fourier"}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(1), unit=task.unit)
    released = system.measurements(system.measure(PlainCounter(random_codes(sizes, N), task.domain), gate=gate))
    assert len(released) == 10
    assert len({m.shared for m in released}) == 1
    assert released[0].shared
    assert isinstance(task.domain.attributes[0], CodedAttribute)
