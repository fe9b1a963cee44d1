"""The colours of the report, in light and dark; every pair that meets has enough contrast.

Text has a contrast of 4.5 or more with what is behind it, a mark 3 or more with the page (WCAG 2.2,
1.4.3 and 1.4.11).
"""

from __future__ import annotations

from collections.abc import Mapping

N_SERIES = 6
"""Series that one chart can tell apart, with and without colour."""
N_SHADES = 5
"""Shades of a heat map, the first for nothing at all."""

LIGHT: Mapping[str, str] = {
    "page": "#ffffff",
    "panel": "#f5f6f8",
    "text": "#1b1f24",
    "soft": "#565d66",
    "link": "#0a5ba8",
    "rule": "#d5d9df",
    "axis": "#6d757f",
    "band": "#f1f3f6",
    "series-1": "#0a5ba8",
    "series-2": "#b04a00",
    "series-3": "#00755a",
    "series-4": "#8038a8",
    "series-5": "#b0153f",
    "series-6": "#6a5600",
    "shade-1": "#ffffff",
    "shade-2": "#dceafa",
    "shade-3": "#b0d0f0",
    "shade-4": "#2a72b8",
    "shade-5": "#0b3f75",
    "on-shade-1": "#1b1f24",
    "on-shade-2": "#1b1f24",
    "on-shade-3": "#1b1f24",
    "on-shade-4": "#ffffff",
    "on-shade-5": "#ffffff",
}
DARK: Mapping[str, str] = {
    "page": "#14171b",
    "panel": "#1c2026",
    "text": "#e8eaed",
    "soft": "#a9b1bb",
    "link": "#7cbcff",
    "rule": "#363c45",
    "axis": "#88919c",
    "band": "#1d2127",
    "series-1": "#6cb4ff",
    "series-2": "#ff9f55",
    "series-3": "#4fd1a5",
    "series-4": "#cf9bf0",
    "series-5": "#ff8aa5",
    "series-6": "#dcc25a",
    "shade-1": "#14171b",
    "shade-2": "#17304d",
    "shade-3": "#1f4e80",
    "shade-4": "#77b5f2",
    "shade-5": "#cfe5fb",
    "on-shade-1": "#e8eaed",
    "on-shade-2": "#e8eaed",
    "on-shade-3": "#ffffff",
    "on-shade-4": "#10141a",
    "on-shade-5": "#10141a",
}

_CHARTS = """\
svg text{fill:var(--text);font-family:inherit}
svg .soft{fill:var(--soft)}
svg .axis{stroke:var(--axis);fill:none}
svg .grid{stroke:var(--rule);fill:none}
svg .band{fill:var(--band)}
svg .bin{fill:var(--series-1);stroke:var(--page)}
svg .gap{fill:none;stroke:var(--axis);stroke-dasharray:2 2}
svg .reference{stroke:var(--text);stroke-dasharray:6 3;fill:none}
svg .thick{stroke-width:2}
svg .faint{fill:var(--axis);stroke:var(--axis)}
svg .paper{fill:var(--page)}
svg .hatch{fill:none;stroke-width:2}
"""


def stylesheet() -> str:
    """Return the colours as custom properties, and the classes that drawings use.

    The dark ones hold where the reader's system asks for them, but on paper.

    Examples
    --------
    >>> "--page:#ffffff" in stylesheet()
    True
    """
    series = "".join(
        f"svg .fill-{number}{{fill:var(--series-{number});stroke:var(--series-{number})}}\n"
        f"svg .line-{number}{{stroke:var(--series-{number})}}\n"
        for number in range(1, N_SERIES + 1)
    )
    shades = "".join(
        f"svg .shade-{number}{{fill:var(--shade-{number});stroke:var(--axis)}}\n"
        f"svg text.on-{number}{{fill:var(--on-shade-{number})}}\n"
        f"svg .same-{number}{{fill:none;stroke:var(--on-shade-{number});stroke-width:2.5}}\n"
        for number in range(1, N_SHADES + 1)
    )
    return (
        f":root{{color-scheme:light dark;{_properties(LIGHT)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{_properties(DARK)}}}}}\n"
        f"{_CHARTS}{series}{shades}"
    )


def _properties(colours: Mapping[str, str]) -> str:
    """Write colours as custom properties."""
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())
