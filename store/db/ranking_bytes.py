"""Single values of a packed ranking, read where they are.

`store.db.packing` says how the bytes are laid out. A look at a few of them is over before numpy,
which unpacks whole rankings, would be loaded.
"""

from __future__ import annotations

from struct import Struct, unpack, unpack_from

_FLOAT_FORMS = {b"f": Struct("<f"), b"d": Struct("<d")}
_ID_BYTES = 4


def read_ids(packed: bytes | None) -> tuple[int, ...]:
    r"""Return the document ids of a ranking; to SQLite, no bytes are no value.

    >>> read_ids(b"\x07\x00\x00\x00\x08\x00\x00\x00"), read_ids(None)
    ((7, 8), ())
    """
    whole = packed or b""
    return unpack(f"<{len(whole) // _ID_BYTES}i", whole)


def place_of(document: int, packed: bytes | None) -> int | None:
    r"""Return the place of a document in a ranking, from 0; ``None`` = it is not there.

    >>> place_of(8, b"\x07\x00\x00\x00\x08\x00\x00\x00")
    1
    """
    whole, wanted = packed or b"", document.to_bytes(_ID_BYTES, "little", signed=True)
    at = whole.find(wanted)
    # The bytes may also be the end of one id and the beginning of the next.
    while at > 0 and at % _ID_BYTES:
        at = whole.find(wanted, at + 1)
    return None if at < 0 else at // _ID_BYTES


def float_at(packed: bytes, place: int) -> float:
    """Return one of the numbers that `store.db.packing.pack_floats` packed.

    >>> import numpy as np
    >>> from store.db.packing import pack_floats
    >>> float_at(pack_floats(np.array([2.5, 1.25])), 1)
    1.25
    """
    form = packed[:1]
    if form in _FLOAT_FORMS:
        layout = _FLOAT_FORMS[form]
        found: float = layout.unpack_from(packed, 1 + layout.size * place)[0]
        return found
    scaled: int = unpack_from("<i", packed, 1 + 4 * place)[0]
    return scaled / float(10 ** int(form))
