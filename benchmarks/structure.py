"""What an analyst concludes from a synthetic table: `python -m benchmarks.structure [--kinds faults] [--systems rls]`.

Every kind of table in `benchmarks/structure_kinds` is drawn once; each system makes `--releases` synthetic tables of
it at each epsilon, with the noise of production, and the figures of the kind are read off them, beside those of the
real table and of fresh records of the same population. Pairs and triples: mean total variation distance, numbers in 16
parts of about equally many records. Prints Markdown, medians in the order of the epsilons, and with `--each` all
releases. A kind, an epsilon or a system alone takes a minute. `--keep FILE` adds what was measured to a file of JSON
lines, one a release; `--show FILE ...` prints such files without running anything. `--without all` (or names of
mechanisms of `benchmarks/ablation_parts.py`) runs `rls` whole and once more without each of them, on equal noise, and
prints what changes: pairs in per cent, and the figure that loses most.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.ablation_parts import OF_STRUCTURE, PARTS, watched, without
from benchmarks.engine import mean_distance, run_system
from benchmarks.process import table as markdown
from benchmarks.structure_kinds.airports import Airports
from benchmarks.structure_kinds.branches import Branches
from benchmarks.structure_kinds.careers import Careers
from benchmarks.structure_kinds.club import Club
from benchmarks.structure_kinds.diary import Diary
from benchmarks.structure_kinds.faults import Faults
from benchmarks.structure_kinds.interview import Interview
from benchmarks.structure_kinds.kind import Kind
from benchmarks.structure_kinds.laboratory import Laboratory
from benchmarks.structure_kinds.minutes import Minutes
from benchmarks.structure_kinds.orders import Orders
from benchmarks.structure_kinds.repairs import Repairs
from benchmarks.structure_kinds.scales import Scales
from benchmarks.structure_kinds.town import Town
from benchmarks.structure_kinds.treated import Treated
from benchmarks.structure_kinds.unrelated import Unrelated
from dpsyn_core.errors import DPSynError
from dpsyn_core.runs.tables import table_of
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.domain import CodedAttribute, Domain
from tests.seeded import SeededNoise

KINDS: dict[str, type[Kind]] = {
    k.name: k
    for k in (
        Faults, Airports, Branches, Interview, Repairs, Treated, Town, Diary, Laboratory, Minutes, Club, Unrelated,
        Careers, Orders, Scales,
    )
}  # fmt: skip
DELTA = 1e-9
NUMBER_PARTS = 16  # of a number, for distances of pairs and triples
SEEN, LEAST = 0.02, 0.1  # change of a figure that is shown, over the real one or this
SYSTEMS = ("rls", "mst", "aim", "privbayes", "independent")
Line = dict[str, Any]  # kind, system, epsilon, seconds, figures


class Drawn:
    """One real table of a kind, as records and as codes."""

    def __init__(self, kind: Kind) -> None:
        import pyarrow as pa

        self.kind, self.schema = kind, kind.schema()
        self.real = kind.drawn(np.random.default_rng(0))
        self.names = list(self.real.columns)
        self.codes = Codec(self.schema).encode(pa.Table.from_pandas(self.real, preserve_index=False)).codes
        self.domain = self.schema.domain()
        self._edges = [_edges(self.real[a.name]) if a.number else None for a in self.domain.attributes]
        self._parts = Domain(
            tuple(
                CodedAttribute(name=a.name, size=a.size if e is None else len(e) + 1)
                for a, e in zip(self.domain.attributes, self._edges, strict=True)
            )
        )

    def made(self, system: str, epsilon: float, seed: int, *, seeded: bool = False) -> tuple[pd.DataFrame, float]:
        """One synthetic table, and the seconds that it took. seeded: with noise that repeats."""
        noise = SeededNoise(seed) if seeded else None
        run = run_system(system, self.codes, self.domain, epsilon=epsilon, delta=DELTA, seed=seed, noise=noise)
        table = table_of(run.codes, self.schema, columns=self.names, rng=np.random.default_rng(seed))
        return self.kind.columns(table), run.seconds

    def figures(self, made: pd.DataFrame) -> dict[str, float]:
        """Those of the kind, and the distances of pairs and triples."""
        real, synthetic = self._in_parts(self.real), self._in_parts(made)
        far = {
            f"{name} (distance)": mean_distance(real, synthetic, self._parts, k)
            for k, name in ((2, "pairs"), (3, "triples"))
        }
        return {**{n: float(v) for n, v in self.kind.figures(made, self.real).items()}, **far}

    def _in_parts(self, table: pd.DataFrame) -> np.ndarray:
        listed = {a["name"]: [str(v) for v in a.get("values", ())] for a in self.kind.attributes()}
        codes = [
            pd.Categorical(table[a.name], categories=listed[a.name]).codes if e is None
            else np.searchsorted(e, table[a.name], side="right")
            for a, e in zip(self.domain.attributes, self._edges, strict=True)
        ]  # fmt: skip
        return np.stack(codes).astype(np.uint16)


def _edges(column: pd.Series) -> np.ndarray:
    """Where the parts of a number begin, but for the first one."""
    return np.unique(np.quantile(column, np.arange(1, NUMBER_PARTS) / NUMBER_PARTS, method="higher"))


def measured(name: str, systems: list[str], epsilons: list[float], releases: int) -> list[Line]:
    """One line a release; the real table and fresh records have no epsilon."""
    drawn = Drawn(KINDS[name]())
    lines: list[Line] = [{"kind": name, "system": "real", "figures": drawn.figures(drawn.real)}]
    for seed in range(releases):
        fresh = drawn.kind.drawn(np.random.default_rng(1000 + seed))
        lines.append({"kind": name, "system": "fresh", "figures": drawn.figures(fresh)})
    for system in systems:
        for epsilon in epsilons:
            for seed in range(releases):
                start = time.perf_counter()
                try:
                    made, seconds = drawn.made(system, epsilon, seed)
                except DPSynError as refusal:
                    print(f"{name} {system} {epsilon:g}: {refusal}", file=sys.stderr)
                    break
                line = {"kind": name, "system": system, "epsilon": epsilon, "seconds": round(seconds, 2)}
                lines.append({**line, "figures": drawn.figures(made)})
                whole = time.perf_counter() - start
                print(f"{name} {system} {epsilon:g} {whole:.1f} s", file=sys.stderr, flush=True)
    return lines


def ablated(name: str, parts: list[str], epsilons: list[float], releases: int) -> list[Line]:
    """Lines of `rls` and of "rls without" each part that it calls for this kind, on equal noise."""
    drawn = Drawn(KINDS[name]())
    lines: list[Line] = [{"kind": name, "system": "real", "figures": drawn.figures(drawn.real)}]

    def line(system: str, epsilon: float, seed: int) -> Line:
        made, _ = drawn.made("rls", epsilon, seed, seeded=True)
        return {"kind": name, "system": system, "epsilon": epsilon, "figures": drawn.figures(made)}

    for epsilon in epsilons:
        for seed in range(releases):
            called: set[str] = set()
            with watched([path for part in parts for path in PARTS[part].instead], called):
                whole = line("rls", epsilon, seed)
            lines.append(whole)
            for part in parts:
                if called.isdisjoint(PARTS[part].instead):
                    lines.append({**whole, "system": f"rls without {part}"})
                    continue
                with without(PARTS[part]):
                    lines.append(line(f"rls without {part}", epsilon, seed))
            print(f"{name} {epsilon:g} {seed}", file=sys.stderr, flush=True)
    return lines


def shown(lines: list[Line], *, each: bool) -> str:
    """Markdown tables, one a kind."""
    out = []
    for name in dict.fromkeys(line["kind"] for line in lines):
        of_kind = [line for line in lines if line["kind"] == name]
        present = dict.fromkeys(line["system"] for line in of_kind)
        systems = [
            *(s for s in ("real", "fresh", *SYSTEMS) if s in present),
            *sorted(set(present) - {"real", "fresh", *SYSTEMS}),
        ]
        epsilons = sorted({line["epsilon"] for line in of_kind if "epsilon" in line})
        rows = [
            [figure, *(_cell(of_kind, figure, s, epsilons, each=each) for s in systems)]
            for figure in of_kind[0]["figures"]
        ]
        about = (sys.modules[KINDS[name].__module__].__doc__ or "").strip()
        out.append(f"### {name}\n\n{about} Epsilon {', '.join(f'{e:g}' for e in epsilons)}.\n")
        out.append(markdown(["figure", *systems], rows) + "\n")
    return "\n".join(out)


def changes(lines: list[Line]) -> str:
    """Markdown of lines of `ablated`: a row a mechanism and epsilon, a column a kind.

    A cell has the change of pairs without the mechanism in per cent, and the figure that it takes farthest from the
    real one: its median with and without it. "-": all releases are the same without it.
    """
    kinds = list(dict.fromkeys(line["kind"] for line in lines))
    parts = list(dict.fromkeys(line["system"] for line in lines if line["system"] not in ("real", "rls")))
    epsilons = sorted({line["epsilon"] for line in lines if "epsilon" in line})
    rows = []
    for part in parts:
        for epsilon in epsilons:
            cells = [_change([x for x in lines if x["kind"] == k], part, epsilon) for k in kinds]
            if set(cells) != {"-"}:
                rows.append([part.removeprefix("rls without "), f"{epsilon:g}", *cells])
    return markdown(["without", "epsilon", *kinds], rows) + "\n"


def _change(lines: list[Line], part: str, epsilon: float) -> str:
    real = next(line["figures"] for line in lines if line["system"] == "real")
    whole, less = (
        [x["figures"] for x in lines if x["system"] == system and x.get("epsilon") == epsilon]
        for system in ("rls", part)
    )
    if whole == less:
        return "-"
    pairs = [float(np.mean([np.log(f["pairs (distance)"]) for f in figures])) for figures in (whole, less)]
    out, farthest = f"{100 * np.expm1(pairs[1] - pairs[0]):+.1f} %", SEEN
    for figure in (f for f in real if not f.endswith("(distance)")):
        values = [[f[figure] for f in figures] for figures in (whole, less)]
        off = [float(np.mean(np.abs(np.array(v) - real[figure]))) / max(abs(real[figure]), LEAST) for v in values]
        if off[1] - off[0] > farthest:
            farthest, (usual, other) = off[1] - off[0], (_short(float(np.median(v))) for v in values)
            text = f"{out}; {figure} {usual}, {other} ({_short(real[figure])})"
    return text if farthest > SEEN else out


def _cell(lines: list[Line], figure: str, system: str, epsilons: list[float], *, each: bool) -> str:
    of_system = [line for line in lines if line["system"] == system]
    if system in ("real", "fresh"):
        return _number([line["figures"][figure] for line in of_system], each=each and system == "fresh")
    found = [[line["figures"][figure] for line in of_system if line["epsilon"] == e] for e in epsilons]
    return " / ".join(_number(values, each=each) if values else "-" for values in found)


def _number(values: list[float], *, each: bool) -> str:
    if each:
        return " ".join(_short(v) for v in sorted(values))
    return _short(float(np.nanmedian(values))) if np.isfinite(values).any() else "-"


def _short(value: float) -> str:
    digits = 4 if abs(value) < 0.1 else 3 if abs(value) < 1 else 2
    return f"{value:.{digits}f}" if value else "0"


def main() -> int:
    """Prints one table a kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--epsilons", default=".3,1,3")
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--each", action="store_true", help="all releases in place of their median")
    parser.add_argument("--keep", type=Path, help="file to which what was measured is added")
    parser.add_argument("--show", type=Path, nargs="+", help="files of --keep to print, without a run")
    parser.add_argument("--without", nargs="+", metavar="NAME", choices=["all", *PARTS], help="mechanisms of rls")
    given = parser.parse_args()
    parts = [*OF_STRUCTURE] if given.without == ["all"] else given.without
    lines: list[Line] = []
    if given.show:
        text = "".join(path.read_text(encoding="utf-8") for path in given.show)
        kinds = given.kinds.split(",")
        known = {json.dumps(x, sort_keys=True): x for x in map(json.loads, text.splitlines()) if x["kind"] in kinds}
        lines = sorted(known.values(), key=lambda line: kinds.index(line["kind"]))
    for name in () if given.show else given.kinds.split(","):
        epsilons = [float(e) for e in given.epsilons.split(",")]
        if parts:
            found = ablated(name, parts, epsilons, given.releases)
        else:
            found = measured(name, given.systems.split(","), epsilons, given.releases)
        lines += found
        if given.keep:
            with given.keep.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in found)
    print(changes(lines) if parts else shown(lines, each=given.each))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
