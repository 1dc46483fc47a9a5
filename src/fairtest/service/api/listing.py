"""Lists in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastapi import Request, Response

Limit = Annotated[int, Query(ge=1, le=200)]
After = Annotated[str | None, Query(max_length=128)]
MOST = 200


def page_of(
    request: Request,
    response: Response,
    found: Sequence[Any],
    limit: int,
    show: Callable[[Any], dict[str, Any]],
    mark: Callable[[Any], str],
) -> dict[str, Any]:
    """Return a part of a list; ``found`` has one more than the limit where there is a next part."""
    more = len(found) > limit
    shown = found[:limit]
    following = mark(shown[-1]) if more else None
    if following is not None:
        link = request.url.include_query_params(after=following, limit=limit)
        response.headers["Link"] = f'<{link.path}?{link.query}>; rel="next"'
    return {"items": [show(each) for each in shown], "next": following}
