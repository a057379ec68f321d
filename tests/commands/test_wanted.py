"""What `dpsyn schema --buy` takes: a column, its kind, and how many bins."""

import pytest

from dpsyn_core.commands.schemas.purchase import as_written, parse_wanted
from dpsyn_core.errors import SettingError


def test_a_column_its_kind_and_its_bins_are_read_from_the_end():
    one = parse_wanted("age=integer:12")
    assert (one.name, one.kind, one.bins) == ("age", "integer", 12)
    assert parse_wanted("age=integer").bins == type(one)(name="age", kind="integer").bins
    assert parse_wanted("a=b=float").name == "a=b"


@pytest.mark.parametrize(
    "text", ["age", "=integer", "age=", "age=number", "age=integer:", "age=integer:x", "age=integer:-1"]
)
def test_what_is_no_such_column_is_refused(text):
    with pytest.raises(SettingError, match=f"--buy got '{text}'; it needs COLUMN=KIND"):
        parse_wanted(text)


def test_examples_belong_to_columns_that_are_no_categories():
    wanted = [parse_wanted(x) for x in ("pay=float", "born=date", "sex=categorical")]
    pay, born, sex = as_written(wanted, ["pay=1.234,5", "born=31.12.1999"])
    assert pay.written == "1.234,5" and born.formats == ("%d.%m.%Y",) and sex == wanted[2]
    assert as_written(wanted, []) == wanted
    for wrong in (["pay"], ["sex=F"], ["other=1"], ["pay=1", "pay=2"]):
        with pytest.raises(SettingError, match="--written needs COLUMN=EXAMPLE"):
            as_written(wanted, wrong)
