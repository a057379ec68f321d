"""Maximum entropy against oracle O13, a direct optimiser, and tables that contradict each other."""

from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.maxent import reconstruct
from dpsyn_core.estimate.marginals.reconstruction import linear_program
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.schema.domain import Domain

DOMAIN = Domain.of({"a": 2, "b": 3, "c": 2, "d": 2})


def table(names, values):
    return Measurement(attributes=tuple(names), values=np.asarray(values, dtype=float), sigma=1.0)


def joint(seed=0):
    return np.random.default_rng(seed).random((2, 3, 2, 2)) * 100


def test_oracle_o13_a_chain_is_conditionally_independent():
    p = joint().sum(axis=3)
    ab, bc, b = p.sum(axis=2), p.sum(axis=0), p.sum(axis=(0, 2))
    got = reconstruct([table("ab", ab), table("bc", bc)], DOMAIN, ("a", "b", "c"))
    np.testing.assert_allclose(got.values, ab[:, :, None] * bc[None] / b[None, :, None], rtol=1e-8)
    assert not got.covered
    assert got.residual < 1e-6


def test_oracle_o13_one_ways_give_the_product_of_oracle_o6():
    domain = Domain.of({"g": 2, "c": 3})
    got = reconstruct([table("g", [55, 45]), table("c", [35, 35, 30])], domain, ("g", "c"))
    np.testing.assert_allclose(got.values, [[19.25, 19.25, 16.5], [15.75, 15.75, 13.5]])


def test_a_covered_marginal_is_the_projection():
    p = joint()
    got = reconstruct([table("abcd", p)], DOMAIN, ("a", "c"))
    np.testing.assert_allclose(got.values, p.sum(axis=(1, 3)))
    assert got.covered


def test_no_agreeing_table_has_more_entropy():
    p = joint(3).sum(axis=3)
    tables = [table("ab", p.sum(axis=2)), table("bc", p.sum(axis=0)), table("ac", p.sum(axis=1))]
    got = reconstruct(tables, DOMAIN, ("a", "b", "c")).values
    for m, axis in zip(tables, (2, 0, 1), strict=True):
        np.testing.assert_allclose(got.sum(axis=axis), m.values, rtol=1e-6)

    def entropy(x):
        return -(x * np.log(x)).sum()

    # the only freedom that three pairs leave: the interaction pattern, in all 3 choices of two values of b
    for left, right in ((0, 1), (0, 2), (1, 2)):
        pattern = np.zeros((2, 3, 2))
        pattern[:, left], pattern[:, right] = [[1, -1], [-1, 1]], [[-1, 1], [1, -1]]
        for step in (-0.5, 0.5):
            assert entropy(got + step * pattern) < entropy(got)


def test_attributes_on_no_table_come_out_uniform():
    got = reconstruct([table("a", [30, 70])], DOMAIN, ("a", "d"))
    np.testing.assert_allclose(got.values, [[15, 15], [35, 35]])
    alone = reconstruct([table("a", [30, 70])], DOMAIN, ("d",))
    np.testing.assert_allclose(alone.values, [50, 50])


def test_contradicting_tables_report_what_is_left():
    tables = [table("ab", np.full((2, 3), 10.0)), table("bc", np.array([[30.0, 0], [0, 10], [10, 10]]))]
    got = reconstruct(tables, DOMAIN, ("a", "b", "c"), sweeps=50)
    assert got.residual > 1
    assert got.sweeps <= 50


def test_empty_tables_give_an_empty_marginal():
    got = reconstruct([table("ab", np.zeros((2, 3))), table("bc", np.zeros((3, 2)))], DOMAIN, ("a", "b", "c"))
    assert not got.values.any()
    assert np.isfinite(got.values).all()


def test_a_result_above_the_cap_is_refused():
    with pytest.raises(SizeError, match="24 cells"):
        reconstruct([table("a", [1, 1])], DOMAIN, ("a", "b", "c", "d"), max_cells=23)


def test_oracle_least_norm_and_linear_program_agree_with_the_tables_too():
    """From one-ways (30, 70) and (40, 60) of two yes/no attributes, of 100 records."""
    domain = Domain.of({"a": 2, "b": 2})
    tables = [table("a", [30, 70]), table("b", [40, 60])]
    flat = reconstruct(tables, domain, ("a", "b")).values
    np.testing.assert_allclose(flat, [[12, 18], [28, 42]])  # independence
    near = reconstruct(tables, domain, ("a", "b"), rule="least-norm")
    np.testing.assert_allclose(near.values, [[10, 20], [30, 40]], atol=1e-6)  # a/2 + b/2 - 25: additive, no product
    program = reconstruct(tables, domain, ("a", "b"), rule="linear-program")
    for got in (near, program):
        assert got.residual < 1e-6 and got.values.min() >= 0 and not got.covered
    assert (program.values == 0).sum() >= 1  # a corner of the tables that agree


def test_no_agreeing_non_negative_table_has_a_smaller_norm():
    rng = np.random.default_rng(3)
    true = rng.random((2, 3, 2)) ** 6 * 100  # some cells nearly empty, so that the bound at 0 binds
    tables = [table("ab", true.sum(axis=2)), table("bc", true.sum(axis=0))]
    got = reconstruct(tables, DOMAIN, ("a", "b", "c"), rule="least-norm", sweeps=20_000)
    assert got.residual < 1e-4 and got.values.min() >= 0
    for b in range(3):
        pattern = np.zeros((2, 3, 2))
        pattern[:, b] = [[1, -1], [-1, 1]]
        for step in (-0.1, 0.1):
            moved = got.values + step * pattern
            assert (moved < -1e-9).any() or (moved**2).sum() >= (got.values**2).sum() - 1e-3


def test_a_linear_program_finds_the_least_disagreement_of_tables_that_contradict_each_other():
    domain = Domain.of({"a": 2, "b": 2})
    tables = [table("a", [30, 70]), table("b", [50, 60])]  # 100 records and 110
    got = reconstruct(tables, domain, ("a", "b"), rule="linear-program")
    assert got.residual == pytest.approx(2.5)  # 10 records too many, shared by four cells
    with pytest.raises(SizeError, match="linear program"):
        linear_program(("a",), (60_000,), [(("a",), np.ones(60_000))])


def test_a_table_whose_values_stand_in_another_order_does_not_hide_the_plain_one():
    domain = Domain.of({"a": 3, "b": 2})
    turned = replace(table("a", [50, 20, 30]), recodes={"a": Coarsening.of([1, 2, 0])})
    got = reconstruct([table("a", [20, 30, 50]), turned, table("b", [40, 60])], domain, ("a", "b"))
    np.testing.assert_allclose(got.values.sum(axis=1), [20, 30, 50])
