import gzip
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from dpsyn_core import data
from dpsyn_core.errors import OutputError, TableError
from dpsyn_core.measure.sources.bounding import bound
from dpsyn_core.schema.checks import check
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.rule_breaks import broken_counts
from dpsyn_core.schema.sample import (
    CODEBOOK,
    NAMES,
    SPECIFICATION,
    coded_design,
    sample_schema,
    sample_table,
    write_sample,
)
from dpsyn_core.tables.read import read_table

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_sample.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("make_sample", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generator_makes_the_committed_files(tool):
    for name, columns, schema in (
        ("sample", tool.census(), tool.census_schema()),
        ("baskets", tool.baskets(), tool.baskets_schema()),
        ("hospital", tool.hospital(tool.Chance(tool.SEED + 2)), tool.hospital_schema()),
        ("firecalls", tool.firecalls(tool.Chance(tool.SEED + 4)), tool.firecalls_schema()),
        ("census98", tool.census98(tool.Chance(tool.SEED + 5), tool.census()), tool.census98_schema()),
    ):
        table, document = data.paths(name)
        assert tool.to_csv(columns) == gzip.decompress(table.read_bytes())
        assert schema == json.loads(document.read_text(encoding="utf-8"))
    tables, document = data.linked_paths("households")
    for path, columns in zip(tables.values(), tool.households(tool.Chance(tool.SEED + 3)), strict=True):
        assert tool.to_csv(columns) == gzip.decompress(path.read_bytes())
    assert tool.households_schema() == json.loads(document.read_text(encoding="utf-8"))
    assert tool.census_specification() == json.loads(SPECIFICATION.read_text(encoding="utf-8"))
    assert tool.census_design() == coded_design()
    assert tool.firecalls_design() == data.worked_design("firecalls")
    assert tool.census98_design() == data.worked_design("census98")
    assert tool.census_codebook() == CODEBOOK.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_samples_fit_their_schemas_without_a_finding(name):
    assert check(sample_schema(name), sample_table(name)) == []
    assert sample_schema(name).private


def test_the_sample_has_the_promised_size_and_stays_small():
    assert sample_table().shape == (20_000, 14)
    assert len(sample_schema().domain()) == 14
    assert sum(p.stat().st_size for p in data.FOLDER.iterdir() if p.is_file()) < 1_500_000  # bytes of every install


def test_wages_that_do_not_apply_have_the_census_code():
    table = sample_table().to_pydict()
    wage, age = np.array(table["INCWAGE"], dtype=int), np.array(table["AGE"], dtype=int)
    assert ((wage == 999_998) == (age < 14)).all()
    s = sample_schema()
    assert s["INCWAGE"].labels()[-1] == "999998"


def test_cities_differ_in_inequality_and_in_pay_gap():
    table = {k: np.array(v) for k, v in sample_table().to_pydict().items()}
    wage = table["INCWAGE"].astype(float)
    paid = (wage > 0) & (wage < 999_998)
    ginis, gaps = {}, {}
    for city in np.unique(table["CITY"]):
        here = paid & (table["CITY"] == city)
        x = np.sort(wage[here])
        ginis[city] = 2 * (x * np.arange(1, len(x) + 1)).sum() / (len(x) * x.sum()) - (len(x) + 1) / len(x)
        men, women = (np.median(wage[here & (table["SEX"] == sex)]) for sex in ("Male", "Female"))
        gaps[city] = 1 - women / men
    assert max(ginis.values()) - min(ginis.values()) > 0.12 and max(ginis, key=ginis.get) == "Juniper"
    assert max(gaps.values()) - min(gaps.values()) > 0.3 and all(g > 0 for g in gaps.values())


def test_baskets_are_bounded_to_three_a_customer():
    s = sample_schema("baskets")
    encoded = Codec(s).encode(sample_table("baskets"))
    visits = np.bincount(np.asarray(encoded.identifiers.indices))
    assert visits.max() == 6
    assert bound(encoded, s.unit.max_records).shape[1] == np.minimum(visits, 3).sum()


def test_no_stay_of_the_hospital_breaks_a_rule_and_some_patients_have_several():
    table, schema = sample_table("hospital"), sample_schema("hospital")
    assert table.num_rows == 5100 and len(schema.rules) == 6
    assert [count for _, count in broken_counts(table, schema)] == [0] * 6
    stays = np.unique(np.array(table["patient_id"].to_pylist()), return_counts=True)[1]
    assert stays.max() == schema.unit.max_records == 3


def test_samples_are_written_with_their_schemas(tmp_path):
    table, schema = write_sample(tmp_path / "new", "sample")
    assert read_table(table).equals(sample_table())
    assert Schema.load(schema) == sample_schema()
    with pytest.raises(TableError, match="unknown sample"):
        write_sample(tmp_path, "none")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError):
        write_sample(tmp_path / "file")
