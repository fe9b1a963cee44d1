"""Words on judges who were erased, for every report that would have counted them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from store.listed_collection import ListedCollection


def erased_words(opened: ListedCollection) -> str:
    """Say how much of erased judges is gone; empty when nobody was erased."""
    from store.erasures import removed_words

    return removed_words(one.judgements for one in opened.erasures())


def erased_facts(opened: ListedCollection) -> dict[str, Any]:
    """Return the same for a manifest: an empty mapping when nobody was erased."""
    found = opened.erasures()
    if not found:
        return {}
    return {"erased": {"judges": len(found), "judgements": sum(one.judgements for one in found)}}
