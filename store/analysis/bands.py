"""Words for coefficients of agreement, each list named by its author.

No list follows from theory: a word says what its author would call the number, and two authors call
the same number differently.
"""

from __future__ import annotations

from typing import Literal, get_args

from store.errors import ArgumentError

Bands = Literal["landis-koch", "ir-book", "krippendorff"]
BANDS: tuple[Bands, ...] = get_args(Bands)

AUTHORS: dict[Bands, str] = {
    "landis-koch": "Landis and Koch 1977",
    "ir-book": "Manning, Raghavan and Schütze 2008",
    "krippendorff": "Krippendorff 2004",
}


def band(value: float, bands: Bands) -> str:
    """Name a coefficient.

    Parameters
    ----------
    value : float
        Kappa, alpha or another coefficient, at most 1.
    bands : {"landis-koch", "ir-book", "krippendorff"}
        Whose words.

    Returns
    -------
    str
        ``landis-koch`` [1]_: poor below 0, then slight up to .20, fair .40, moderate .60,
        substantial .80, almost perfect. ``ir-book`` [2]_: good above .80, fair from .67, else
        dubious. ``krippendorff`` [3]_: firm from .80, tentative from .667, else unreliable.

    Raises
    ------
    ArgumentError
        If `bands` is another word.

    References
    ----------
    .. [1] J. R. Landis and G. G. Koch, "The Measurement of Observer Agreement for Categorical
       Data", *Biometrics* 33(1), 159-174, 1977, doi:10.2307/2529310.
    .. [2] C. D. Manning, P. Raghavan and H. Schütze, *Introduction to Information Retrieval*,
       Cambridge University Press, 2008, section 8.5.
    .. [3] K. Krippendorff, *Content Analysis*, 2nd edition, Sage, 2004, section 11.4.

    Examples
    --------
    >>> band(0.776, "landis-koch"), band(0.776, "ir-book"), band(0.776, "krippendorff")
    ('substantial', 'fair', 'tentative')
    """
    if bands == "landis-koch":
        if value < 0:
            return "poor"
        limits = (("slight", 0.2), ("fair", 0.4), ("moderate", 0.6), ("substantial", 0.8))
        return next((word for word, limit in limits if value <= limit), "almost perfect")
    if bands == "ir-book":
        return "good" if value > 0.8 else "fair" if value >= 0.67 else "dubious"
    if bands == "krippendorff":
        return "firm" if value >= 0.8 else "tentative" if value >= 0.667 else "unreliable"
    raise ArgumentError("--bands", f"must be one of {', '.join(BANDS)}", bands)
