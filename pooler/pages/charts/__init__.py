"""Charts as SVG: rows (bars, dots, stacks), lines, heat maps."""
