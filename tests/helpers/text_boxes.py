"""Where the texts of a drawing stand, measured with the widths of a font and not with our table."""

from __future__ import annotations

import unicodedata
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import combinations

from store.text import sanitise_line

SVG = "{http://www.w3.org/2000/svg}"
# Advance widths of DejaVu Sans 2.37, U+0020 to U+007E, in 1/2048 of the font size.
_ADVANCES = [
    651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087,
    2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604, 604, 1343, 1141, 1767, 1532, 1612,
    1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799, 690, 799, 1716, 1024,
    1024, 1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569, 1995, 1298, 1253,
    1300, 1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303, 1716,
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Box:
    """One line of text."""

    text: str
    left: float
    right: float
    top: float
    bottom: float


def advance(text: str) -> float:
    """Return the width of a text in font sizes."""
    total = 0.0
    for character in text:
        if " " <= character <= "~":
            total += _ADVANCES[ord(character) - 32] / 2048
        else:
            total += 1.0 if unicodedata.east_asian_width(character) in "WF" else 0.9
    return total


def boxes(svg: ET.Element) -> list[Box]:
    """Return the box of every text, from the top of its capitals to its base."""
    size = float(svg.attrib["font-size"])
    found = []
    for one in svg.iter(f"{SVG}text"):
        wide = size * advance(one.text or "")
        x, base = float(one.attrib["x"]), float(one.attrib["y"])
        left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[one.get("text-anchor", "start")]
        found.append(Box(one.text or "", left, left + wide, base - 0.74 * size, base))
    return found


def assert_readable(svg: ET.Element) -> None:
    """Assert that no text leaves the drawing and no two of them meet."""
    width, height = (float(svg.attrib[name]) for name in ("width", "height"))
    found = boxes(svg)
    for one in found:
        # A tenth is what coordinates are rounded to; twice, for place and size.
        assert one.left >= -0.2, one
        assert one.right <= width + 0.2, (one, width)
        assert one.top >= -0.2, one
        assert one.bottom <= height + 0.2, (one, height)
    for one, other in combinations(found, 2):
        is_beside = one.right <= other.left + 0.2 or other.right <= one.left + 0.2
        is_below = one.bottom <= other.top + 0.2 or other.bottom <= one.top + 0.2
        assert is_beside or is_below, (one, other)


def letters(svg: ET.Element) -> str:
    """Return all texts in their order, without blanks: a label may be broken anywhere."""
    return squeezed("".join(one.text or "" for one in svg.iter(f"{SVG}text")))


def squeezed(text: str) -> str:
    """Return a text as it is shown, without its blanks."""
    line = sanitise_line(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    return "".join(line.split())
