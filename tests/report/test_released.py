"""Released marginals as a file: the round trip, and what is refused."""

import gzip
import json

import numpy as np
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.released_file import dump_measurements, load_measurements
from dpsyn_core.estimate.marginals.types import JointAxis, JointTable, Measurement, ReleasedTables, Scores
from dpsyn_core.report.released import amount
from tests.evaluate.tables import draw, small_domain
from tests.evaluate.test_released_fit import measured


def test_measurements_come_back_as_they_were(tmp_path):
    made = measured(draw(50, 1), 3.0, 0, coarse=True)
    dump_measurements(tmp_path / "m.json.gz", made)
    got = load_measurements(tmp_path / "m.json.gz", small_domain())
    assert len(got) == len(made)
    for a, b in zip(got, made, strict=True):
        assert (a.attributes, a.sigma) == (b.attributes, b.sigma)
        np.testing.assert_array_equal(a.values, b.values)
        assert a.recodes == b.recodes


def test_the_law_of_noise_shared_noise_scores_and_joint_tables_come_back_too(tmp_path):
    one = Measurement(attributes=("sex",), values=np.array([3.0, 4.0]), sigma=2.0, law="geometric", shared="all of it")
    axis = JointAxis(attributes=("sex",), recode=Coarsening.of([0, 1]))
    made = ReleasedTables([one])
    made.scores = Scores(sets=(("age", "sex"),), values=np.array([7.0]), sigma=1.5)
    made.joint = (JointTable(axes=(axis,), values=np.array([5.0, -1.0]), sigma=3.0, law="gaussian"),)
    dump_measurements(tmp_path / "m.json.gz", made)
    got = load_measurements(tmp_path / "m.json.gz", small_domain())
    assert (got[0].law, got[0].shared, got[0].sigma) == ("geometric", "all of it", 2.0)
    assert got.scores.sets == (("age", "sex"),) and got.scores.sigma == 1.5
    (joint,) = got.joint
    assert (joint.law, joint.sigma, joint.values.tolist()) == ("gaussian", 3.0, [5.0, -1.0])
    assert joint.axes[0].recode.map.tolist() == [0, 1]


def packed(raw):
    """Without the time of day, which would give each worker of the tests other names of them."""
    return gzip.compress(raw, mtime=0)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"not gzip", packed(b"{}"), packed(b"[1]"), packed(b"\xff"), packed(b"x")[:9],
        packed(json.dumps({"measurements": [{"attributes": ["sex"], "sigma": 1, "shape": [3],
                                                    "values": [1, 2, 3], "recodes": {}}]}).encode()),
        packed(json.dumps({"measurements": [{"attributes": ["who"], "sigma": 1, "shape": [2],
                                                    "values": [1, 2], "recodes": {}}]}).encode()),
        packed(json.dumps({"measurements": [{"attributes": ["sex"], "sigma": -1, "shape": [2],
                                                    "values": [1, 2], "recodes": {}}]}).encode()),
        packed(json.dumps({"measurements": [{"attributes": ["sex"], "sigma": 1, "shape": [2], "law": "uniform",
                                                    "values": [1, 2], "recodes": {}}]}).encode()),
        packed(json.dumps({"measurements": [{"attributes": ["sex"], "sigma": 1, "shape": [2],
                                                    "values": [1, 2], "recodes": {"sex": [1]}}]}).encode()),
        packed(json.dumps({"measurements": [], "joint": [{"axes": [{"attributes": ["sex"], "recode": [0, 5]}],
                                                    "sigma": 1, "shape": [2], "values": [1, 2]}]}).encode()),
    ],
)  # fmt: skip
def test_other_files_are_one_sentence(tmp_path, content):
    (tmp_path / "m.json.gz").write_bytes(content)
    with pytest.raises(TableError, match="does not hold released marginals"):
        load_measurements(tmp_path / "m.json.gz", small_domain())
    with pytest.raises(TableError, match="cannot read"):
        load_measurements(tmp_path / "none.json.gz", small_domain())


@pytest.mark.parametrize(
    ("x", "text"),
    [(99.96, "100"), (100.0, "100"), (100.4, "100"), (99.94, "99.9"), (1e6, "1,000,000"), (0.0123, "0.0123"),
     (1234.5, "1,234")],
)  # fmt: skip
def test_a_number_of_records_has_three_digits_or_is_whole(x, text):
    assert amount(x) == text
