"""Plots as SVG without scripts: grouped bars, heat maps, and single bars; readable in light and dark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup, escape

_COLOURS = ("var(--a)", "var(--b)", "var(--c)", "var(--d)", "var(--e)")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 360, 200, 40, 34, 12


def grouped_bars(
    title: str,
    groups: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    *,
    maximum: float | None = None,
    line: float | None = None,
    unit: str = "",
) -> Markup:
    """Bars by group and series. A value of None has no bar. *line* is the value of a reference line across the plot."""
    values = [value for row in series.values() for value in row if value is not None]
    top = maximum or max([*values, line or 0.0, 1e-9]) * 1.08
    plot_height, group_width = _HEIGHT - _TOP - _BOTTOM, (_WIDTH - _LEFT - 6) / max(1, len(groups))
    bar_width = group_width * 0.8 / max(1, len(series))

    def y(value: float) -> float:
        return _TOP + plot_height * (1 - min(value, top) / top)

    parts = [_axis(top, y, unit)]
    for group_index, group in enumerate(groups):
        left = _LEFT + group_index * group_width + group_width * 0.1
        for series_index, row in enumerate(series.values()):
            value = row[group_index]
            if value is not None:
                bar_height = max(0.8, y(0) - y(value))
                x = left + series_index * bar_width
                label = escape(f"{group}, {list(series)[series_index]}: {value:g}{unit}")
                colour = _COLOURS[series_index % len(_COLOURS)]
                parts.append(
                    f'<rect x="{x:.1f}" y="{y(0) - bar_height:.1f}" width="{bar_width * 0.92:.1f}" '
                    f'height="{bar_height:.1f}" '
                    f'fill="{colour}"><title>{label}</title></rect>'
                )
        parts.append(
            f'<text x="{left + group_width * 0.4:.1f}" y="{_HEIGHT - _BOTTOM + 13}" class="m">{escape(group)}</text>'
        )
    if line is not None:
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y(line):.1f}" y2="{y(line):.1f}" class="r"/>')
    legend, height = _legend(list(series))
    return _svg(title, "".join([*parts, legend]), height)


def heat_map(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[float | None]]) -> Markup:
    """Shares in percent by row and column. A higher share has a darker cell."""
    left, top, row_height = 92, 24, 22
    column_width = (_WIDTH - left) / max(1, len(columns))
    parts = [
        f'<text x="{left + (column_index + 0.5) * column_width:.1f}" y="{top - 8}" class="m">{escape(column)}</text>'
        for column_index, column in enumerate(columns)
    ]
    for row_index, (name, values) in enumerate(rows.items()):
        y = top + row_index * row_height
        parts.append(f'<text x="{left - 6}" y="{y + 15}" class="e">{escape(name)}</text>')
        for column_index, value in enumerate(values):
            x = left + column_index * column_width
            if value is None:
                parts.append(f'<text x="{x + column_width / 2:.1f}" y="{y + 15}" class="m">–</text>')
                continue
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{column_width - 2:.1f}" height="{row_height - 2}" fill="var(--a)" '
                f'fill-opacity="{0.08 + 0.5 * value / 100:.2f}"><title>'
                f"{escape(f'{name}, {columns[column_index]}: {value:g} %')}</title></rect>"
                f'<text x="{x + column_width / 2 - 1:.1f}" y="{y + 15}" class="m">{value:.0f}</text>'
            )
    return _svg(title, "".join(parts), top + row_height * len(rows) + 4)


def bar(share: float, colour: int = 0) -> Markup:
    """One horizontal bar for a table. *share* is its length, from 0 to 1."""
    width = max(0.5, 100 * min(1.0, share))
    rect = f'<rect width="{width:.1f}" height="8" rx="1" fill="{_COLOURS[colour % len(_COLOURS)]}"/>'
    start = '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
    return Markup(f"{start}{rect}</svg>")


def _axis(top: float, y_of: Callable[[float], float], unit: str) -> str:
    marks = [0.0, top / 2, top]
    return "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y_of(mark):.1f}" y2="{y_of(mark):.1f}" class="g"/>'
        f'<text x="{_LEFT - 4}" y="{y_of(mark) + 3:.1f}" class="e">{_short(mark)}{escape(unit.strip())}</text>'
        for mark in marks
    )


def _short(value: float) -> str:
    if value >= 10_000:
        return f"{value / 1000:.0f}k"
    return f"{value:.0f}" if value >= 10 or value == 0 else f"{value:.2g}"


def _legend(names: Sequence[str]) -> tuple[str, int]:
    """The names of the series below a plot, in as many rows as they need, and the height of the whole."""
    parts: list[str] = []
    x, y = _LEFT, _HEIGHT - 4
    for number, name in enumerate(names):
        entry_width = 20 + 6 * len(name)
        if x + entry_width > _WIDTH and x > _LEFT:
            x, y = _LEFT, y + 14
        colour = _COLOURS[number % len(_COLOURS)]
        parts.append(f'<rect x="{x}" y="{y - 8}" width="8" height="8" fill="{colour}"/>')
        parts.append(f'<text x="{x + 11}" y="{y}">{escape(name)}</text>')
        x += entry_width
    return "".join(parts), y + 4


def _svg(title: str, content: str, height: int) -> Markup:
    return Markup(
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">{content}</svg>'
    )
