"""Builds the labs as a static folder: python -m tools.browser [-o build/browser] [--wheels FOLDER].

Streamlit in the browser (stlite) and the core of Pyodide come from the npm registry, checked against the digests below.
The compiled packages of Pyodide (numpy, pandas and more) are on no package registry: they are part of the distribution
that Pyodide's authors publish. `--wheels` takes a folder with them; each is checked against the lock that the core
brings. What is missing is listed in missing.txt, and the exit status is 1 until nothing is.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# npm package -> version, its digest as the registry states it, the folder inside it, and where that goes
PARTS = {
    "@stlite/browser": (
        "1.9.2",
        "VkIpNlHjOmImBvxTScRUOWXNVY3D+Vh4C83kBbiQk9pLDEl4n2kDJrlI1zmQmcmnq4EPz8gDNKW7tYk00ppEUQ==",
        "package/build",
        "stlite",
    ),
    "pyodide": (  # the version that this stlite asks for
        "0.29.3",
        "22UBuhOJawj7vKUnS7/F3xK+515LJdjiMAHoCfuS6/PbHiOrSQVnYwDe+2sbVwiOZ3sMMexdXICew6NqOMQGgA==",
        "package",
        "pyodide",
    ),
}
# what stlite's Streamlit and the labs import, by their names in Pyodide's lock
ROOTS = (
    "altair", "anyio", "cryptography", "fastparquet", "micropip", "narwhals", "numpy", "packaging", "pandas", "pillow",
    "platformdirs", "protobuf", "pyarrow", "pydantic", "scipy", "sqlite3", "ssl", "starlette", "threadpoolctl",
    "typing-extensions", "tzdata",
)  # fmt: skip
APART = ("blinker", "itsdangerous", "plotly", "python-multipart")  # pure Python, not in Pyodide's distribution
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>DPSyn Studio: labs</title><link rel="stylesheet" href="stlite/stlite.css"></head>
<body><div id="root"></div>
<script type="module">
import {{ mount }} from "./stlite/stlite.js";
const here = (path) => new URL(path, location.href).href;
mount({{
  entrypoint: "labs.py",
  archives: [{{ url: here("app.zip"), format: "zip" }}],
  pyodideUrl: here("pyodide/pyodide.mjs"),
  prebuiltPackageNames: {prebuilt},
  requirements: {apart}.map(here),
  env: {{ DPSYN_CLASSROOM: "1", DPSYN_WARM_UP: "0" }},
}}, document.getElementById("root"));
</script></body></html>
"""


def app_files() -> dict[str, Path]:
    """Place in the archive -> file: the engine, the pages of the labs and their words."""
    out = {"labs.py": HERE / "labs.py", "numba.py": HERE / "compiler.py"}
    for folder in ("dpsyn_core", "ui", "assets"):
        for path in sorted((PROJECT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in {".nbi", ".nbc"}:
                out[path.relative_to(PROJECT).as_posix()] = path
    return out


def write_app(place: Path) -> None:
    """The archive, with the same bytes for the same files."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in app_files().items():
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)


def closure(packages: dict[str, Any], roots: tuple[str, ...]) -> list[str]:
    """The roots and all that they need, by their names in the lock. Raises KeyError for a name that it lacks."""
    named = {name.replace("_", "-").lower(): name for name in packages}
    found: list[str] = []
    left = list(roots)
    while left:
        name = named[left.pop().replace("_", "-").lower()]
        if name not in found:
            found.append(name)
            left += packages[name]["depends"]
    return sorted(found)


def unpack(name: str, out: Path) -> None:
    """One npm package, checked, without its source maps. Raises SystemExit where the registry does not answer."""
    version, digest, inside, place = PARTS[name]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["npm", "pack", "--silent", f"{name}@{version}"], cwd=folder, capture_output=True, text=True, check=False
        )
        packed = next(Path(folder).glob("*.tgz"), None)
        if done.returncode or packed is None:
            msg = f"npm did not give {name} {version}: {done.stderr.strip()[-200:]}"
            raise SystemExit(msg)
        if base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode() != digest:
            msg = f"{name} {version} has another digest than tools/browser names"
            raise SystemExit(msg)
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        shutil.copytree(Path(folder) / inside, out / place, ignore=shutil.ignore_patterns("*.map", "*.d.ts"))


def add_wheels(packages: dict[str, Any], given: Path | None, out: Path) -> list[str]:
    """Copies what the folder has; returns what is missing, with the SHA-256 that the lock asks for."""
    missing = []
    for name in closure(packages, ROOTS):
        file, digest = packages[name]["file_name"], packages[name]["sha256"]
        source = given / file if given else None
        if source and source.exists() and hashlib.sha256(source.read_bytes()).hexdigest() == digest:
            shutil.copyfile(source, out / "pyodide" / file)
        else:
            missing.append(f"{digest}  {file}")
    for name in APART:
        found = next(iter(sorted(given.glob(f"{name.replace('-', '_')}-*-none-any.whl"))), None) if given else None
        if found:
            shutil.copyfile(found, out / "pyodide" / found.name)
        else:
            missing.append(f"{'any version':64} {name}, a wheel of pure Python")
    return missing


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 while files are missing."""
    parser = argparse.ArgumentParser(description="build the labs as a static folder")
    parser.add_argument("-o", "--out", type=Path, default=PROJECT / "build" / "browser")
    parser.add_argument("--wheels", type=Path, help="folder of Pyodide's packages, of the version of PARTS")
    args = parser.parse_args(arguments)
    shutil.rmtree(args.out, ignore_errors=True)
    args.out.mkdir(parents=True)
    for name in PARTS:
        unpack(name, args.out)
    write_app(args.out / "app.zip")
    packages = json.loads((args.out / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    missing = add_wheels(packages, args.wheels, args.out)
    apart = [f"pyodide/{p.name}" for n in APART for p in (args.out / "pyodide").glob(f"{n.replace('-', '_')}-*.whl")]
    page = PAGE.format(prebuilt=json.dumps(list(ROOTS)), apart=json.dumps(apart))
    (args.out / "index.html").write_text(page, encoding="utf-8")
    size = sum(p.stat().st_size for p in args.out.rglob("*") if p.is_file())
    print(f"{args.out}: {size / 2**20:.0f} MB")
    if missing:
        (args.out / "missing.txt").write_text("\n".join(missing) + "\n", encoding="utf-8")
        compiled = [re.sub(r".*  ", "", line).split("-")[0] for line in missing if "wasm32" in line]
        print(
            f"{len(missing)} files of missing.txt are needed before it runs, {', '.join(compiled)} among them; "
            "put them in a folder and name it with --wheels"
        )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
