"""What kind of file it is, by its first bytes: each mark at its ends."""

import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.tables.kinds import (
    LABELLED_ENDINGS,
    LABELLED_MARKS,
    NEWEST,
    OLDEST,
    OTHERS,
    kind_of_labelled,
    refuse_others,
)


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("rest", [b"\1\0", b"\1\1", b"\0\1", b"\1\2"])
def test_an_old_stata_file_begins_with_a_version_a_byte_order_and_one(order, rest):
    known = order in (1, 2) and rest in (b"\1\0", b"\1\1")
    for version in (OLDEST, NEWEST):
        assert kind_of_labelled("x.csv", bytes([version, order]) + rest) == ("dta" if known else None)
    for version in (OLDEST - 1, NEWEST + 1):
        head = bytes([version, order]) + rest
        if known:
            with pytest.raises(TableError, match=f"version {version}, and versions {OLDEST} to {NEWEST}"):
                kind_of_labelled("x.csv", head)
        else:
            assert kind_of_labelled("x.csv", head) is None
    assert kind_of_labelled("x.csv", bytes([OLDEST, 1, 1])) is None  # too short to say


def test_labelled_files_are_known_by_their_marks_under_any_name_without_such_an_ending():
    for mark, kind in LABELLED_MARKS.items():
        assert kind_of_labelled("anything", mark + b"more") == kind
        assert kind_of_labelled("anything", mark[:-1]) is None
    for ending, kind in LABELLED_ENDINGS.items():
        with pytest.raises(TableError, match="its content is not"):
            kind_of_labelled(f"x{ending}", b"a,b\n1,2\n")
        assert kind in LABELLED_MARKS.values()


def test_files_of_other_programs_are_refused_by_their_marks_and_text_is_not():
    for mark, what in OTHERS:
        if mark == b"DUCK":
            head = b"8 bytes " + mark + b"\x40\0" + bytes(2)
            refuse_others(head[:14] + b"ab")  # no number of a version
        else:
            head = mark
            refuse_others(mark[:-1])
        with pytest.raises(TableError) as error:
            refuse_others(head + b" and more")
        assert what in str(error.value)
