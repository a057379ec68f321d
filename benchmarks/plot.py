"""A small line chart and rows of pictures, as SVG text, without a plotting library."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 420, 70, 50, 20, 150
APART = 15  # between labels
INKS = ("#1b6ca8", "#c4571a", "#4b7f3a", "#7a4fa3", "#8a6d1f", "#555555")


def svg_lines(lines: Mapping[str, Mapping[float, float]], *, x: str, y: str, even: bool = False) -> str:
    """Lines by name, each from x to y values above 0; every mark says its numbers in a tooltip.

    Both axes are logarithmic; `even`: y is not, and goes by tenths.
    """
    xs = sorted({v for line in lines.values() for v in line})
    values = [v for line in lines.values() for v in line.values()]
    low, high = 10 ** np.floor(np.log10(min(values))), 10 ** np.ceil(np.log10(max(values)))
    ticks = [d * 10.0**k for k in range(round(np.log10(low)), round(np.log10(high)) + 1) for d in (1, 2, 5)]
    if even:
        low, high = np.floor(10 * min(values)) / 10, np.ceil(10 * max(values)) / 10
        ticks = [k / 10 for k in range(round(10 * low), round(10 * high) + 1)]

    def at(a: float, b: float) -> tuple[float, float]:
        across = np.log(a / xs[0]) / max(np.log(xs[-1] / xs[0]), 1e-9)
        up = (b - low) / (high - low) if even else np.log(b / low) / np.log(high / low)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - TOP)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="13" role="img" aria-label="{y} against {x}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for tick in ticks:
        if low <= tick <= high:
            (left, level), (right, _) = at(xs[0], tick), at(xs[-1], tick)
            out.append(f'<path d="M{left:.1f} {level:.1f}H{right:.1f}" stroke="#dddddd"/>')
            out.append(f'<text x="{left - 8:.1f}" y="{level + 4:.1f}" text-anchor="end" fill="#444">{tick:g}</text>')
    for tick in xs:
        across, _ = at(tick, low)
        out.append(
            f'<text x="{across:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="#444">{tick:g}</text>'
        )
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{x}</text>')
    out.append(f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{y}</text>')
    ends: list[tuple[float, float, str, str]] = []
    for ink, (name, line) in zip(INKS * 3, lines.items(), strict=False):
        points = [at(a, b) for a, b in sorted(line.items())]
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        out.append(f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="2"/>')
        for (a, b), (px, py) in zip(sorted(line.items()), points, strict=True):
            label = f"{name}: {b:.4f} at {a:g}"
            out.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4" fill="{ink}"><title>{label}</title></circle>')
        ends.append((*points[-1], name, ink))
    floor: dict[float, float] = {}  # lowest free place of the labels that stand at one x
    for px, py, name, ink in sorted(ends):
        level = floor[px] = max(py + 4, floor.get(px, 0.0) + APART)
        out.append(f'<text x="{px + 10:.1f}" y="{level:.1f}" fill="{ink}">{name}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def svg_pictures(rows: Mapping[str, np.ndarray], *, scale: int = 2, alt: str) -> str:
    """A row of black and white pictures a name; each of the values: (pictures, height, width), 0 or 1."""
    first = next(iter(rows.values()))
    count, high, wide = first.shape
    gap, label = 6, 90
    across, down = label + count * (wide * scale + gap), len(rows) * (high * scale + gap) + gap
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" font-family="sans-serif" '
        f'font-size="13" role="img" aria-label="{alt}">',
        f'<rect width="{across}" height="{down}" fill="#ffffff"/>',
    ]
    for i, (name, pictures) in enumerate(rows.items()):
        top = gap + i * (high * scale + gap)
        out.append(f'<text x="8" y="{top + high * scale / 2 + 4:.0f}" fill="#222">{name}</text>')
        for j, picture in enumerate(pictures):
            left, runs = label + j * (wide * scale + gap), []
            for y, line in enumerate(picture):
                ends = np.flatnonzero(np.diff(np.concatenate([[0], line, [0]]).astype(int)))
                runs += [f"M{a} {y}h{b - a}v1h{a - b}z" for a, b in zip(ends[::2], ends[1::2], strict=True)]
            out.append(
                f'<g transform="translate({left} {top}) scale({scale})"><rect width="{wide}" height="{high}" '
                f'fill="#eeeeee"/><path d="{"".join(runs)}" fill="#111111"/></g>'
            )
    return "\n".join([*out, "</svg>"]) + "\n"
