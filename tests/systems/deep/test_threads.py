"""NumPy's matrix products keep to one thread while a network is trained."""

import numpy as np
from threadpoolctl import threadpool_info

from dpsyn_core.systems.deep.network import single_blas


def blas_threads():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def test_products_of_matrices_have_one_thread_inside_and_what_they_had_outside():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = blas_threads()
    with single_blas():
        assert blas_threads() == {1}
    assert blas_threads() == before
