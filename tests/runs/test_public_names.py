"""What an engineer reaches from `dpsyn_core` alone: from a frame to a written release."""

import pandas as pd

import dpsyn_core


def test_a_frame_goes_to_a_written_release_through_the_public_names_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    people = pd.DataFrame({"sex": ["F", "M"] * 50, "age": list(range(20, 70)) * 2})
    drafted = dpsyn_core.draft_schema(people, "people")
    known = dpsyn_core.confirm_schema(drafted)
    assert not drafted.private and known.private
    release = dpsyn_core.synthesize(people, known, epsilon=1.0, delta=1e-6, rng=1, method="independent")
    assert list(release.table.columns) == ["sex", "age"]
    release.write(tmp_path / "o.csv")
    assert (tmp_path / "o.csv").is_file() and (tmp_path / "o.manifest.json").is_file()


def test_a_schema_is_drafted_from_a_file_too(tmp_path):
    pd.DataFrame({"sex": ["F", "M"] * 50}).to_csv(tmp_path / "t.csv", index=False)
    assert dpsyn_core.draft_schema(tmp_path / "t.csv", "t").attributes[0].values == ("F", "M")
