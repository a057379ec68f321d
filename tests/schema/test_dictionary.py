import pytest

from dpsyn_core.errors import SchemaError, TableError
from dpsyn_core.schema.importers.codebook import import_dictionary
from dpsyn_core.schema.importers.parameters import import_file

TEXT = """Variable,Type,Values,Min,Max,Bins,Missing,Description
person,id,,,,,,Number of the person
sex,,1=Male; 2=Female,,,,no,Sex
region,,North|South, ,,,,
zip,,"01000,02000",,,,no,
age,integer,,0,99,20,no,Age in years
weight,,,0.5,150,,,
hours,,0-98,,,,no,
income,continuous,,0,100000,,yes,
born,date,,1900-01-01,2020-12-31,year,no,
seen,,,2020-01-01,2020-12-31,,no,
remarks,free text,,,,,,
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "survey.csv").write_text(TEXT)
    return tmp_path / "survey.csv"


def test_each_line_becomes_an_attribute(path):
    s = import_dictionary(path)
    assert s.name == "survey" and s.unit.identifier == "person" and s.private
    assert [a.kind for a in s.attributes] == [
        "identifier", "categorical", "categorical", "categorical", "numeric", "numeric", "numeric", "numeric",
        "datetime", "datetime", "ignored",
    ]  # fmt: skip
    assert s["sex"].values == (1, 2) and s["sex"].notes == {"labels": {"1": "Male", "2": "Female"}}
    assert s["region"].values == ("North", "South") and s["region"].missing and not s["sex"].missing
    assert s["zip"].values == ("01000", "02000")
    assert (s["age"].dtype, s["age"].bins.count, s["age"].description) == ("integer", 20, "Age in years")
    assert s["weight"].dtype == "float" and s["income"].dtype == "float"
    assert (s["hours"].min, s["hours"].max, s["hours"].size) == (0, 98, 99)
    assert s["born"].bins.every == "year" and s["seen"].bins is None


def test_dictionaries_are_found_by_their_headers(path, tmp_path):
    assert import_file(path) == import_dictionary(path)
    (tmp_path / "data.csv").write_text("age,sex\n1,2\n")
    with pytest.raises(SchemaError, match="no data dictionary"):
        import_file(tmp_path / "data.csv")
    with pytest.raises(TableError):
        import_dictionary(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a,,,,,,,", "'a'.*neither"),
        ("a,integer,,0,,,,", "'a'.*neither"),
        ("a,integer,,zero,9,,,", "'a'.*no number"),
        ("a,integer,,0,9,many,,", "'a'.*bins"),
        ("a,,x|y,,,,perhaps,", "'a'.*missing"),
        ("a,,x|x,,,,,", "twice"),
        ("a,integer,,9,0,,,", "min 9"),
        ("a,date,,2020,soon,,,", "min and max"),
    ],
)
def test_lines_that_say_too_little_are_named(tmp_path, line, words):
    path = tmp_path / "d.csv"
    path.write_text(TEXT.splitlines()[0] + "\n" + line + "\nb,,x|y,,,,,\n")
    with pytest.raises(SchemaError, match=words):
        import_dictionary(path)
