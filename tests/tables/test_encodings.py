"""Encodings of text files by their marks, zero bytes and header line; a declared one; and bytes that do not decode."""

import codecs

import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.tables.text.encodings import SAMPLE, STEP, find_encoding, first_invalid, refuse_binary, repaired


def found(raw, wanted=None, **more):
    made = find_encoding(memoryview(raw), wanted, **more)
    return made.name, made.skip, None if made.notice is None else made.notice.key


HEAD = "aé,b\n1,2\n"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"a,b\n1,2\n", ("utf-8", 0, None)),
        (HEAD.encode(), ("utf-8", 0, None)),
        (codecs.BOM_UTF8 + HEAD.encode(), ("utf-8", 3, None)),
        (codecs.BOM_UTF16_LE + HEAD.encode("utf-16-le"), ("utf-16-le", 2, "utf16")),
        (codecs.BOM_UTF16_BE + HEAD.encode("utf-16-be"), ("utf-16-be", 2, "utf16")),
        ("ab,c\n".encode("utf-16-le"), ("utf-16-le", 0, "utf16_unmarked")),
        ("ab,c\n".encode("utf-16-be"), ("utf-16-be", 0, "utf16_unmarked")),
        (HEAD.encode("cp1252"), ("cp1252", 0, "latin")),
        ("возраст,пол\n1,2\n".encode("cp1251"), ("cp1251", 0, "guessed")),
        (b"a,b\n\xff\xfe,2\n", ("utf-8", 0, None)),  # records decide nothing
        (b"", ("utf-8", 0, None)),
    ],
)
def test_an_encoding_is_read_off_the_start_and_the_header_line_alone(raw, expected):
    assert found(raw) == expected


@pytest.mark.parametrize(
    "raw", [b"a\x00b,c\n", b"\x7fELF\x02\x01\n", b"a,\x81\x02\n", codecs.BOM_UTF32_LE + b"a\0\0\0"]
)
def test_a_header_line_of_control_bytes_is_no_text_table(raw):
    with pytest.raises(TableError, match="not a text table"):
        find_encoding(memoryview(raw), None)


@pytest.mark.parametrize(
    ("raw", "wanted", "expected"),
    [
        (b"a", "utf-8", ("utf-8", 0)), (codecs.BOM_UTF8 + b"a", "UTF8", ("utf-8", 3)),
        (codecs.BOM_UTF8 + b"a", "utf-8-sig", ("utf-8", 3)), (b"a", "utf-8-sig", ("utf-8", 0)),
        (b"a", "latin-1", ("iso8859-1", 0)), (codecs.BOM_UTF8 + b"a", "cp1252", ("cp1252", 0)),
        (codecs.BOM_UTF16_LE + b"a\0", "utf-16", ("utf-16-le", 2)),
        (codecs.BOM_UTF16_BE + b"\0a", "utf-16", ("utf-16-be", 2)), (b"a\0", "utf-16", ("utf-16-le", 0)),
        (codecs.BOM_UTF32_LE + b"a\0\0\0", "utf-32", ("utf-32-le", 4)),
        (codecs.BOM_UTF32_BE + b"\0\0\0a", "utf-32", ("utf-32-be", 4)), (b"a\0\0\0", "utf-32", ("utf-32-le", 0)),
        (codecs.BOM_UTF16_LE + b"a\0", "utf-16-le", ("utf-16-le", 0)),
    ],
)  # fmt: skip
def test_a_declared_encoding_is_taken_with_the_mark_that_it_may_have(raw, wanted, expected):
    assert found(raw, wanted)[:2] == expected


@pytest.mark.parametrize("wanted", ["nothing", "iso2022_jp", "hz", "utf-7", "punycode", "unicode_escape", "\n"])
def test_an_encoding_that_is_unknown_or_lets_lines_change_each_other_is_refused(wanted):
    with pytest.raises(TableError, match="encoding"):
        find_encoding(memoryview(b"a,b\n"), wanted)


def test_a_file_whose_first_line_is_a_record_is_utf_8_unless_another_encoding_is_declared():
    marked = codecs.BOM_UTF8 + HEAD.encode("cp1252")
    assert found(marked, headed=False) == ("utf-8", 0, None) and found(marked, "cp1252", headed=False)[:2] == (
        "cp1252",
        0,
    )
    assert found(marked, "utf-16-le", headed=False)[0] == "utf-16-le"
    for name in ("utf-16", "utf-32"):
        with pytest.raises(TableError, match=f"'{name}-le' or '{name}-be'"):
            find_encoding(memoryview(marked), name, headed=False)


@pytest.mark.parametrize(
    ("size", "control", "refused"),
    [(10, 1, False), (10, 2, True), (400, 2, False), (400, 3, True), (SAMPLE, SAMPLE // 200, False),
     (SAMPLE, SAMPLE // 200 + 1, True)],
)  # fmt: skip
def test_a_file_of_more_control_bytes_than_one_in_two_hundred_is_no_text(size, control, refused):
    raw = b"\x01" * control + b"\t\n\x0c\r" + b"a" * (size - control - 4)
    if refused:
        with pytest.raises(TableError, match="binary bytes"):
            refuse_binary(memoryview(raw))
    else:
        refuse_binary(memoryview(raw))
        refuse_binary(memoryview(raw.ljust(SAMPLE, b"a") + b"\x01" * 9999))  # only the start is looked at


@pytest.mark.parametrize("before", [0, 5, STEP - 2, STEP - 1, STEP, STEP + 1])
def test_the_first_byte_that_does_not_decode_is_found_wherever_a_piece_ends(before):
    good, bad = b"a" * before + "é".encode(), b"a" * before + b"\xc3(" + b"b" * 9
    assert first_invalid(memoryview(good), "utf-8", 0) is None
    assert first_invalid(memoryview(bad), "utf-8", 0) == (before, False)
    assert first_invalid(memoryview(b"a" * before + b"\xc3"), "utf-8", 0) == (before, True)
    assert repaired(memoryview(good), "utf-8", 0) is None
    assert repaired(memoryview(bad), "utf-8", 0) == b"a" * before + "\ufffd(".encode() + b"b" * 9
    wide = ("a" * (before // 2) + "é").encode("utf-16-le")
    assert repaired(memoryview(b"\xff\xfe" + wide), "utf-16-le", 2) == ("a" * (before // 2) + "é").encode()
