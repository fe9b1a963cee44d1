"""Grades in words: the same name for a grade wherever a judge reads it."""

from __future__ import annotations

from store.records import Scale
from store.sanitise import sanitise_line


def grade_mark(scale: Scale, value: int) -> str:
    """Name a grade as shortly as can be: by its letter where its key is one, else by its value.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> grade_mark(parse_scale("0-2"), 2), grade_mark(parse_scale("ntcir"), 3)
    ('2', 'S')
    """
    for grade in scale.grades:
        if grade.value == value and grade.key.isalpha():
            first, colon, _ = sanitise_line(grade.label).partition(":")
            return first if colon and first.lower() == grade.key.lower() else grade.key
    return str(value)


def grade_name(scale: Scale, value: int) -> str:
    """Name a grade by its letter or value, and its label.

    Raises
    ------
    UnknownNameError
        If the value is off the scale.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> grade_name(parse_scale("0-2"), 2), grade_name(parse_scale("ntcir"), 3)
    ('2 relevant', 'S: highly relevant')
    """
    label, mark = sanitise_line(scale.label(value)), grade_mark(scale, value)
    if label.startswith(f"{mark}:"):
        return label
    return f"{mark}: {label}" if mark.isalpha() else f"{mark} {label}"


def grade_entries(scale: Scale) -> list[tuple[str, str]]:
    """Name every grade beside its key, the value only where the key is another.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> grade_entries(parse_scale("binary"))
    [('0', 'not relevant'), ('1', 'relevant')]
    >>> grade_entries(parse_scale("ntcir"))[0]
    ('c', '0 C: not relevant')
    """
    entries = []
    for grade in scale.grades:
        label = sanitise_line(grade.label)
        is_value = grade.key == str(grade.value)
        entries.append((sanitise_line(grade.key), label if is_value else f"{grade.value} {label}"))
    return entries
