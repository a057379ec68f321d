"""What each command cannot do without: options that must be given, and how many files."""

import argparse

from dpsyn_core.commands.cli import build_parser

NEEDED = {
    "schema import": ["--out"], "schema export": ["--out"], "schema draft": ["--out"], "noise": ["--delta"],
    "synth": ["--out"], "compare": ["--schema"], "report": ["--schema"], "answer": ["--manifest", "--measurements"],
    "describe": ["--schema", "--licence", "--url", "--curator"],
    "draw": ["--manifest", "--schema", "--n-records", "--out", "--new-manifest"], "explore": ["--schema"],
    "itemsets": ["--epsilon", "--out"], "key sign": ["--key"], "marginal": ["--attributes", "--out"],
    "refit": ["--out"],
}  # fmt: skip
OPTIONAL = {  # files that may be left out, or of which there may be several
    "schema confirm": {"columns": "*"}, "schema draft": {"table": "?"}, "schema propose-rules": {"table": "?"},
    "schema check": {"second": "?"}, "synth": {"table": "?"}, "compare": {"real": "?"},
    "report": {"real": "?", "synthetic": "+"}, "attack": {"given": "+"}, "compare-systems": {"table": "?"},
    "marginal": {"table": "?"},
}  # fmt: skip


def commands(parser, path=()):
    """Each command with its parser."""
    below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not below:
        yield " ".join(path), parser
    for action in below:
        assert action.required, path
        for name, one in action.choices.items():
            yield from commands(one, (*path, name))


def test_each_command_asks_for_what_it_cannot_do_without():
    needed, optional = {}, {}
    for name, parser in commands(build_parser()):
        options = [a for a in parser._actions if a.option_strings]
        places = {a.dest: a.nargs for a in parser._actions if not a.option_strings and a.nargs is not None}
        needed |= {name: [a.option_strings[-1] for a in options if a.required]}
        optional |= {name: places}
    assert {k: v for k, v in needed.items() if v} == NEEDED
    assert {k: v for k, v in optional.items() if v} == OPTIONAL
