"""What grids found: progress while one runs, then a map on one colour scale, curves with error bars, and the file."""

from dpsyn_core.report import bars_figure, grid_figure
from dpsyn_core.runs import RESULT, SystemsComparison, TrialCell
from ui.shared.choices import one_of
from ui.shared.downloads import download
from ui.shared.jobs import Job
from ui.shared.state import Workspace, grids
from ui.shared.text import ASSETS, amount, number, percent, sentence, t
from ui.shared.theme import note, section, show
from ui.shared.watching import Far, ended_well, watch
from ui.synthesize.methods import spelt

SCORES = ("pairs", "columns")
# until there is one of the visitor: `dpsyn compare-systems sample.csv --public --repeats 3 --json assets/grid.json`
EXAMPLE = ASSETS / "grid.json"


def panel(space: Workspace) -> None:
    """The grid under way, then the newest that ended."""
    mine = grids().of(space.owner)
    for job in [j for j in mine if j.live]:
        watch(grids, space.owner, job, _far, key="grid")
    ended = next((j for j in mine if not j.live), None)
    if ended is None:
        if not mine:
            section(t("grid.example"))
            _shown(SystemsComparison.model_validate_json(EXAMPLE.read_text("utf-8")))
        return
    if ended_well(ended, cancelled=t("grid.cancelled")):
        section(ended.label)
        _shown(SystemsComparison.model_validate_json((ended.folder / RESULT).read_text("utf-8")))


def _far(job: Job) -> Far:
    share, seen = job.part_done("runs"), job.progress()
    if share is None:
        return 0.0, t("grid.waiting")
    return share, t("grid.progress", **{name: number(round(seen[name])) for name in ("done", "total")})


def _shown(found: SystemsComparison) -> None:
    scores = [s for s in SCORES if found.cells(s)]
    if not scores:
        note(t("grid.none"), "warning")
    else:
        called = {"columns": t("ahead.columns"), "pairs": t("grid.pairs")}
        _map(found, one_of(t("grid.score"), scores, key="grid_score", called=called.__getitem__))
        download(t("grid.csv"), "grid.csv", found.csv, key="grid_csv")
    for name, why in found.refused.items():
        note(f"{name}: {sentence(ValueError(why))}", "warning")


def _map(found: SystemsComparison, score: str) -> None:
    cells = {(c.method, c.epsilon): c for c in found.cells(score)}
    epsilons = sorted({e for _, e in cells})
    last = epsilons[-1]
    methods = sorted(
        dict.fromkeys(m for m, _ in cells), key=lambda m: cells[m, last].mean if (m, last) in cells else 2.0
    )
    values = [[cells[m, e].mean if (m, e) in cells else None for e in epsilons] for m in methods]
    texts = [[_words(cells.get((m, e))).replace(" ±", "<br>±") for e in epsilons] for m in methods]
    best = min(cells.values(), key=lambda c: (c.epsilon != last, c.mean))
    finding = t("grid.finding", method=spelt(best.method), epsilon=amount(best.epsilon), error=_words(best))
    show(
        grid_figure(
            methods, [amount(e) for e in epsilons], values, texts, across=t("ahead.epsilon"),
            down=t("synthesize.column_name"), hover=t("grid.hover"), caption=finding, alt=finding,
        ),
        key="grid_map",
    )  # fmt: skip
    note(finding)
    floor = getattr(found, f"{score}_floor")
    points = {m: [(c.mean, c.half) if (c := cells.get((m, e))) else None for e in epsilons] for m in methods}
    bars = bars_figure(
        methods, epsilons, points, floor=floor, across=t("ahead.epsilon"), up=t("grid.error"),
        floor_name=t("grid.floor"), caption=finding, alt=t("grid.alt", finding=finding),
    )  # fmt: skip
    show(bars, key="grid_bars")
    note(t("grid.bars") if floor is None else f"{t('grid.bars')} {t('grid.floor_note', floor=percent(floor))}")


def _words(cell: TrialCell | None) -> str:
    """Mean and half of its interval, as percentages."""
    if cell is None:
        return "–"
    return percent(cell.mean) if cell.half is None else f"{percent(cell.mean)} ± {percent(cell.half)}"
