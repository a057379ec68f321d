"""What an installation weighs: `python -m benchmarks.installation --wheel FILE [--pythons python3.11,python3.13]`.

The wheel in an empty environment of each interpreter, without extras and with the app: packages and megabytes (with pip
and compiled Python files), seconds of pip (it fetches, or takes what it has kept), modules and seconds of
`import dpsyn_core` and of `dpsyn --help`, and the seconds from the sample to a synthetic table, where kernels are
compiled. Then what the large packages buy. Needs a package registry, and nothing but Python. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LARGE = 8  # megabytes from which a package has a row of its own
BUYS = {  # package -> what it buys, and why it stays
    "llvmlite": "LLVM, which compiles the kernels at the first run; kernels built beforehand would need a wheel "
    "for each system, processor and Python",
    "pyarrow": "tables as columns of text, CSV and Parquet; its wheel is one piece, with parts that nothing loads",
    "scipy": "root finding and special functions of the accounting",
    "numpy": "every array",
    "numba": "kernels that count, fit and draw noise at the speed of C, written in Python",
    "cryptography": "ChaCha20 for the noise, Ed25519 for signatures",
    "pydeck": "maps, which no page shows; Streamlit asks for it",
    "pandas": "tables on the screen, Excel files; Streamlit asks for it",
    "plotly": "figures of pages and reports, with its JavaScript: nothing is fetched",
    "streamlit": "the app",
    "sklearn": "the two scores of models that learn, on the report page",
    "pillow": "pictures, which no page shows; Streamlit asks for it",
    "dpsyn_core": "the engine, with compiled Python files and the kernels that the first run kept",
    "pip": "comes with every environment",
    "altair": "charts of the pages",
}
FIRST = "dpsyn sample demo && dpsyn synth demo/sample.csv --schema demo/sample.schema.json --epsilon 1 --delta 1e-9"
APP = """
from streamlit.testing.v1 import AppTest
from dpsyn_core.commands.app import app_folder
found = AppTest.from_file(str(app_folder() / "app.py"), default_timeout=300).run()
print("opens" if not len(found.exception) else "fails")
"""
HELP = """
import sys
from dpsyn_core.commands.cli import main
try:
    main(["--help"])
except SystemExit:
    print(len(sys.modules), file=sys.stderr)
"""


def megabytes(place: Path) -> float:
    """Of all files below a place, each counted once."""
    seen = {(s.st_dev, s.st_ino): s.st_size for p in place.rglob("*") if p.is_file() and (s := p.lstat())}
    return sum(seen.values()) / 2**20


class Environment:
    """An empty environment of one interpreter."""

    def __init__(self, python: str, folder: Path) -> None:
        subprocess.run([python, "-m", "venv", str(folder / "env")], check=True)
        self.folder, self.bin = folder, folder / "env" / "bin"

    def run(self, command: str) -> tuple[str, str, float]:
        """stdout, stderr and wall seconds of a shell line. Raises SystemExit where it fails."""
        env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME", "NUMBA_CACHE_DIR"}}
        env |= {"PATH": f"{self.bin}{os.pathsep}{env['PATH']}", "DPSYN_HOME": str(self.folder / "home")}
        start = time.perf_counter()
        done = subprocess.run(
            ["bash", "-ec", command], cwd=self.folder, env=env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            msg = f"{command[:80]}: {done.stderr[-800:]}"
            raise SystemExit(msg)
        return done.stdout, done.stderr, time.perf_counter() - start

    def add(self, what: str) -> float:
        return self.run(f"python -m pip install --quiet --disable-pip-version-check '{what}'")[2]

    def packages(self) -> int:
        return len(self.run("python -m pip list --disable-pip-version-check --format freeze")[0].splitlines())

    def sizes(self) -> dict[str, float]:
        """Megabytes by package, with the shared libraries that stand beside it."""
        out: dict[str, float] = {}
        for place in next(self.bin.parent.glob("lib/python3*/site-packages")).iterdir():
            if place.is_dir():
                name = place.name.split(".")[0].split("-")[0]
                out[name] = out.get(name, 0) + megabytes(place)
        return out


def tried(python: str, wheel: Path) -> tuple[list[list[str]], dict[str, tuple[float, bool]]]:
    """The two rows of an interpreter, and the size of each package with whether the core has it."""
    with tempfile.TemporaryDirectory() as name:
        made = Environment(python, Path(name))
        version = made.run("python -c 'import platform; print(platform.python_version())'")[0].strip()
        seconds = made.add(str(wheel))
        sizes = made.sizes()
        loaded = made.run("python -c 'import dpsyn_core, sys; print(len(sys.modules))'")[0].strip()
        (Path(name) / "help.py").write_text(HELP, encoding="utf-8")
        helped = made.run("python help.py")[1].strip().splitlines()[-1]
        begun = sorted(made.run("dpsyn --help")[2] for _ in range(3))[1]
        first = made.run(f"{FIRST} --out one.csv")[2]
        again = made.run(f"{FIRST} --out two.csv".replace("sample demo", "sample demo2"))[2]
        size, count = megabytes(made.bin.parent), made.packages()
        kept = set(sizes)
        core = [version, "core", str(count), f"{size:.0f}", f"{seconds:.0f}", f"{loaded} / {helped}", f"{begun:.2f}",
                f"{first:.0f} / {again:.0f}"]  # fmt: skip
        seconds = made.add(f"{wheel}[app]")
        (Path(name) / "opened.py").write_text(APP, encoding="utf-8")
        opened = made.run("python opened.py")[0].strip().splitlines()[-1]
        sizes = made.sizes()
        app = [version, f"[app], {opened}", str(made.packages()), f"{megabytes(made.bin.parent):.0f}", f"{seconds:.0f}",
               "", "", ""]  # fmt: skip
        return [core, app], {name: (size, name in kept) for name, size in sizes.items()}


def table(headers: list[str], rows: list[list[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def bought(sizes: dict[str, tuple[float, bool]]) -> list[list[str]]:
    """A row for each large package, those of the core first, and one for the small ones of each kind."""
    rows = []
    for of_core, kind in ((True, "core"), (False, "app")):
        mine = sorted(((size, name) for name, (size, core) in sizes.items() if core is of_core), reverse=True)
        rows += [[name, f"{size:.0f}", kind, BUYS.get(name, "not yet said")] for size, name in mine if size >= LARGE]
        small = [size for size, _ in mine if size < LARGE]
        rows.append([f"{len(small)} more", f"{sum(small):.0f}", kind, ""])
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, required=True, help="as `make dist` builds it")
    parser.add_argument("--pythons", default=sys.executable, help="interpreters, separated by commas")
    args = parser.parse_args(arguments)
    rows: list[list[str]] = []
    sizes: dict[str, tuple[float, bool]] = {}
    for python in args.pythons.split(","):
        found, sizes = tried(python, args.wheel.resolve())
        rows += found
        print(found, file=sys.stderr, flush=True)
    print(table(["Python", "wheel", "packages", "MB", "pip, s", "modules: import / --help", "dpsyn --help, s",
                 "sample to table, first / again, s"], rows))  # fmt: skip
    print("\n" + table(["package", "MB", "with", "what it buys, and why it stays"], bought(sizes)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
