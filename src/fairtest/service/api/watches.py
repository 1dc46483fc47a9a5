"""The route of the watch: how it stands, and what it follows."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from fairtest.service.api.access import Reader
from fairtest.service.api.models import moment
from fairtest.service.store.monitors import find_monitor
from fairtest.service.store.standings import Standing, find_standing

router = APIRouter(tags=["watch"])


@router.get("/monitors/{monitor}/watch")
def get_watch(tenant: Reader, monitor: str) -> dict[str, Any]:
    """Return how the watch of a monitor stands, and the effect of each followed context over time.

    The intervals of a timeline may be read on any day: they hold together, however often anybody looks.
    """
    return show_watch(find_standing(tenant, find_monitor(tenant, monitor).id))


def show_watch(found: Standing) -> dict[str, Any]:
    """Return a watch as answers have it."""
    return {
        "phase": found.phase,
        "words": found.words,
        "version": found.version,
        "looked": moment(found.looked),
        "next": moment(found.due),
        "trouble": found.trouble,
        "warnings": [],
        **found.view,
        "followed": [each.body | {"id": each.id, "state": each.state} for each in found.followed],
    }
