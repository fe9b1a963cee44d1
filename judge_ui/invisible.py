"""Characters that show nothing: joiners, variation selectors, soft hyphens."""

from __future__ import annotations

_RANGES = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200D),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)

INVISIBLE = frozenset(chr(code) for first, last in _RANGES for code in range(first, last + 1))
"""Unicode's default-ignorable code points, and the interlinear annotation marks."""
