"""The `dpsyn` command: sub-commands, exit status, and errors as one sentence.

Exit status: 0 done; 2 what the person got wrong (one sentence on stderr); 1 an error of the program; 130 cancelled.
Nothing heavy is imported here or in the `add` functions of `commands`, so that `dpsyn --help` is instant.
"""

from __future__ import annotations

import os
import pkgutil
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from typing import TextIO, cast

from dpsyn_core import __version__, commands, errors
from dpsyn_core.commands.common import Parser, Terminal
from dpsyn_core.errors import DPSynError, InputError

RENAMED = {  # old name -> where to go
    "benchmark": "systems are compared on an invented table by 'dpsyn compare-systems --process classes'",
    "epsilon": "'dpsyn plan --error' and 'dpsyn plan --gain' lead from an error or a risk to epsilon",
    "grid": "systems are compared on a public table by 'dpsyn compare-systems TABLE --public'",
    "tune": "'dpsyn compare-systems --save-settings S.json' chooses, 'dpsyn synth --settings S.json' runs",
}
ORDER = ("app", "sample", "schema", "methods", "noise", "synth", "compare", "report", "verify", "ledger")


def command_modules() -> list[str]:
    """One file in `commands` is one command (or a family); in the order of use first, then by name."""
    out = {m.name.replace("_", "-") for m in pkgutil.iter_modules(commands.__path__) if not m.ispkg} - {
        "cli",
        "common",
        "trees",
    }
    return [n for n in ORDER if n in out] + sorted(out - set(ORDER))


def build_parser(argv: Sequence[str] = ()) -> Parser:
    """The parser of all sub-commands, or of the one that argv begins with: the others need not be loaded then."""
    parser = Parser(prog="dpsyn", description="Turns a private table into a differentially private synthetic one.")
    parser.add_argument("--version", action="version", version=f"dpsyn {__version__}")
    added = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    modules = command_modules()
    for name in argv[:1] if argv and argv[0] in modules else modules:
        import_module(f"dpsyn_core.commands.{name.replace('-', '_')}").add(added)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a sub-command and turns errors into an exit status."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in RENAMED:
        print(f"dpsyn {words[0]}: {RENAMED[words[0]]}", file=sys.stderr)
        return 2
    args = build_parser(words).parse_args(words)
    # pyarrow's own allocator keeps what it once held; the system's gives it back (20 MB less at the peak)
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if argv is None:  # a process of its own, that holds a private table
        from dpsyn_core.platforms import forbid_core_dumps, print_anything

        forbid_core_dumps()
        print_anything()
        if args.command == "synth" and args.table is not None:
            from dpsyn_core.loading import load_little

            # a file of settings may name a public table of any kind
            named = (args.table, args.out, args.public_table, args.from_settings)
            load_little(*(str(f) for f in named if f is not None))
    try:
        shown, aside = (cast("TextIO", Terminal(stream)) for stream in (sys.stdout, sys.stderr))
        with warnings.catch_warnings(), redirect_stdout(shown), redirect_stderr(aside):
            warnings.showwarning = Warned(args.command)
            args.run(args)
    except InputError as error:
        print(f"dpsyn {args.command}: {error}", file=sys.stderr)
        return 2
    except DPSynError as error:
        print(f"dpsyn {args.command}: {error}", file=sys.stderr)
        return 1
    except MemoryError:
        print(f"dpsyn {args.command}: not enough memory; use coarser bins or fewer attributes", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"dpsyn {args.command}: cancelled; what was charged to the ledger stays charged", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # whoever read the output has closed it
        return 1
    except Exception as error:  # noqa: BLE001 an error nobody foresaw: one sentence, without any value
        kind = type(error).__name__
        print(f"dpsyn {args.command}: an internal error ({kind}); set DPSYN_TRACE=1 to see its trace", file=sys.stderr)
        trace()
        return 1
    return 0


class Warned:
    """Prints a warning of the engine as one sentence, as an error is, and those of others as Python does."""

    def __init__(self, command: str) -> None:
        """Of a sub-command."""
        self.command, self.other = command, warnings.showwarning

    def __call__(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        """What `warnings.showwarning` is asked to do."""
        if category.__module__ == errors.__name__:
            print(f"dpsyn {self.command}: warning: {message}", file=sys.stderr)
        else:
            self.other(message, category, filename, lineno, file, line)


def trace() -> None:
    """Prints the trace when the person asked for it: it may hold private values."""
    if os.environ.get("DPSYN_TRACE") == "1":
        import traceback

        traceback.print_exc()


if __name__ == "__main__":
    sys.exit(main())
