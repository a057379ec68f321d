"""Records of text files as pyarrow splits them: bytes of a file that has changed are checked, nothing is guessed."""

import io

import pyarrow as pa
import pytest

from dpsyn_core.tables.text.records import _parsed, unfit


def parsed(raw, names=("x",), *, from_file=False, **more):
    stream = (lambda: pa.PythonFile(io.BytesIO(raw), mode="r")) if from_file else None
    given = {"delimiter": ",", "multiline": False, "block": 1 << 20} | more
    return _parsed(memoryview(raw), list(names), stream=stream, **given).to_pydict()


@pytest.mark.parametrize("from_file", [False, True])
def test_cells_are_text_and_no_word_is_a_blank_cell(from_file):
    raw = b"1,NA\n,null\n007,\n"
    assert parsed(raw, "ab", from_file=from_file) == {"a": ["1", "", "007"], "b": ["NA", "null", ""]}
    assert parsed(b"1\n\n2\n", from_file=from_file) == {"x": ["1", "", "2"]}, (
        "an empty line is a blank cell of one column"
    )
    assert parsed(b"1,2\n\n3,4\n", "ab", from_file=from_file) == {"a": ["1", "3"], "b": ["2", "4"]}
    assert parsed(b"", "ab") == {"a": [], "b": []}
    assert parsed(b'"1\n2",3\n', "ab", multiline=True, from_file=from_file) == {"a": ["1\n2"], "b": ["3"]}
    assert parsed(b"1;2\n", "ab", delimiter=";", from_file=from_file) == {"a": ["1"], "b": ["2"]}


def test_a_file_that_is_no_longer_utf_8_is_refused_and_bytes_in_memory_were_decoded_before():
    with pytest.raises(pa.ArrowInvalid):
        parsed(b"ok\n\xff\xfe\n", from_file=True)
    table = _parsed(memoryview(b"ok\n\xff\n"), ["x"], ",", False, 1 << 20, None)
    assert table.num_rows == 2


def test_what_is_told_of_lines_depends_on_whether_cells_may_have_several():
    class Fault:
        def sentence(self, columns):
            return f"first of {columns}"

    for multiline, key in ((True, "unfit"), (False, "unfit_multiline")):
        assert unfit(3, Fault(), 2, multiline=multiline).key == key
