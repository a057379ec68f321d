"""The command that makes more tables of a release: what it says."""

from dpsyn_core.commands.cli import main
from tests.runs.refits.small import synth, write


def test_a_refit_says_what_it_wrote_unless_it_is_to_be_quiet(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    write(tmp_path)
    assert synth("independent") == 0
    capsys.readouterr()
    arguments = ["refit", "independent.dpsyn", "-o", "said.csv", "--seed", "5"]
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(arguments) == 0
    assert "records to said.csv; nothing was charged" in capsys.readouterr().err
