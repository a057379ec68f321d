"""Words of the table: what stands for no answer and for other values comes back as the table says it."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.schema.drafts.proposals import agreed, propose
from dpsyn_core.schema.languages import other_word
from dpsyn_core.tables.cells.canonical_text import COMMA


def back(**columns):
    table = pa.table({n: pa.array([str(v) for v in values], pa.string()) for n, values in columns.items()})
    table = table.replace_schema_metadata(COMMA)
    schema = agreed(draft(table, "t"), propose(draft(table, "t"), table))
    codec = Codec(schema)
    codes = codec.encode(table).codes
    made = codec.decode(codes, rng=np.random.default_rng(0))
    assert (codec.encode(made.replace_schema_metadata(COMMA)).codes == codes).all()
    return schema, made


@pytest.mark.parametrize("word", ["k. A.", "keine Angabe", "unknown", "Missing"])
@pytest.mark.parametrize(
    "cells",
    [range(300), [f"{v / 7:.3f}".replace(".", ",") for v in range(300)], [f"{v} €" for v in range(300)],
     [1, 2, 3] * 100, [str(np.datetime64("2020-01-01") + i) for i in range(300)],
     [f"{i % 28 + 1}.{i % 12 + 1}.{1990 + i % 20}" for i in range(300)]],
    ids=["whole", "decimals", "amounts", "few", "dates", "German dates"],
)  # fmt: skip
def test_a_word_for_no_answer_stays_one(word, cells):
    schema, made = back(x=[*map(str, cells), *[word] * 60], y=["a", "b"] * 180)
    assert schema["x"].blank_word == word
    assert made["x"].to_pylist()[300:] == [word] * 60
    assert word not in made["x"].to_pylist()[:300]


@pytest.mark.parametrize("mark", ["", "NA", "NULL", "-", "n/a"])
def test_marks_that_programs_read_as_blank_come_back_blank(mark):
    schema, made = back(x=[*map(str, range(300)), *[mark] * 60], y=["a", "b"] * 180)
    assert schema["x"].blank_word is None and made["x"].null_count == 60


def test_blank_cells_stay_blank_where_more_are_blank_than_say_so():
    assert back(x=[*map(str, range(300)), *["k. A."] * 20, *[""] * 40], y=["a", "b"] * 180)[0]["x"].blank_word is None


@pytest.mark.parametrize(
    ("texts", "word"),
    [
        (("Alter", "Beruf", "Gehalt"), "(andere)"),
        (("sexe", "âge_du_patient"), "(autre)"),
        (("edad", "sexo"), "(otro)"),
        (("age", "city", "income", "sex", "land", "man and woman"), None),
        (("Alter_first", "model"), None),
        (("Nome", "Cidade", "Vendas"), "(outro)"),
        (("produto", "quantidade", "data"), "(outro)"),
        (("年齢", "性別", "都道府県"), "(その他)"),
        (("id", "カテゴリ", "りんご"), "(その他)"),
        (("年龄", "性别", "城市"), "(其他)"),
        (("나이", "성별"), "(기타)"),
        (("Возраст", "Пол", "Город"), "(другое)"),
        (("ηλικία", "φύλο"), "(άλλο)"),
        (("α", "β", "score", "rate"), None),
        (("wiek", "płeć"), "(inne)"),
        (("data", "by", "man", "price", "city", "name"), None),
    ],
)
def test_other_values_are_called_so_in_the_language_of_the_table(texts, word):
    assert other_word(texts) == word


def test_other_values_of_a_german_table_come_out_in_german():
    jobs = ["Maurer"] * 200 + ["Arzt"] * 90 + [f"Beruf {i}" for i in range(10)]
    schema, made = back(Alter=list(range(20, 80)) * 5, Beruf=jobs)
    assert schema["Beruf"].other_text() == "(andere)"
    assert made["Beruf"].to_pylist()[-10:] == ["(andere)"] * 10
