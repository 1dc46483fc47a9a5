"""Who asks: from the key of a request to a store bound to its project and scopes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from fastapi import Depends, Header, Request

from fairtest.service.errors import NotFound, TooManyRequests, Unauthorized
from fairtest.service.guard.limits import as_retry_after
from fairtest.service.guard.secrets import digest_of
from fairtest.service.service import Service
from fairtest.service.store.projects import find_key, find_project
from fairtest.service.store.tenant import Tenant

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairtest.service.store.projects import StoredKey
    from fairtest.service.store.streams import Stream

T = TypeVar("T")
REMEMBERED = 5.0
"""Seconds for which ingest trusts what it read of a key and a stream; the transaction that stores checks both again."""


def service_of(request: Request) -> Service:
    """Return the service that an app was made for."""
    found = request.app.state.service
    assert isinstance(found, Service)
    return found


def token_of(authorization: str | None) -> str:
    """Return the key in an ``Authorization`` header."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthorized("Send the key in the header: Authorization: Bearer ftk_….")
    return token.strip()


def check_rate(service: Service, key: StoredKey) -> None:
    """Raise if a key sends more requests than it may."""
    if wait := service.requests.take(key.id):
        raise TooManyRequests(
            f"A key may send {service.settings.rate:,g} requests a second. Send larger batches, or wait.",
            as_retry_after(wait),
        )


def tenant_of(service: Service, key: StoredKey, project: str | None) -> Tenant:
    """Return a store bound to what a key may do; a key of the whole service names its project."""
    if key.project is None:
        if project is not None:
            find_project(service.database, project)
        return Tenant(service.database, key.id, project, key.scopes, whole_service=True)
    if project is not None and project != key.project:
        raise NotFound(f"There is no project {project!r}.")
    return Tenant(service.database, key.id, key.project, key.scopes)


def authenticate(
    service: Annotated[Service, Depends(service_of)],
    authorization: Annotated[str | None, Header()] = None,
    fairtest_project: Annotated[str | None, Header()] = None,
) -> Tenant:
    """Return who asks."""
    key = find_key(service.database, token_of(authorization))
    if key is None:
        raise Unauthorized("The key is not known, mistyped, expired or revoked.")
    check_rate(service, key)
    return tenant_of(service, key, fairtest_project)


def needs(scope: str, *, whole_service: bool = False) -> Any:
    """Return the dependency of a route: a store whose key has a scope."""

    def check(tenant: Annotated[Tenant, Depends(authenticate)]) -> Tenant:
        tenant.require(scope, whole_service=whole_service)
        return tenant

    return Depends(check)


Reader = Annotated[Tenant, needs("read")]
Manager = Annotated[Tenant, needs("manage")]
ServiceManager = Annotated[Tenant, needs("manage", whole_service=True)]
Sender = Annotated[Tenant, needs("ingest")]
Anyone = Annotated[Tenant, Depends(authenticate)]
TheService = Annotated[Service, Depends(service_of)]


class Remembered(Generic[T]):
    """Values that are looked up again after a few seconds."""

    def __init__(self, most: int = 4096) -> None:
        self._values: dict[Any, tuple[float, T]] = {}
        self._most = most

    def get(self, name: Any, look_up: Callable[[], T]) -> T:
        """Return a value, looked up where it is not known or too old."""
        if (known := self.find_known(name)) is not None:
            return known
        value = look_up()
        if len(self._values) >= self._most:
            self._values.clear()
        self._values[name] = time.monotonic(), value
        return value

    def find_known(self, name: Any) -> T | None:
        """Return a value if it is known and not too old."""
        known = self._values.get(name)
        return known[1] if known is not None and time.monotonic() - known[0] < REMEMBERED else None

    def forget(self, name: Any) -> None:
        """Look a value up the next time."""
        self._values.pop(name, None)


class SenderCache:
    """Keys and streams of ingest, remembered for seconds: what is stored is decided in the transaction anyway."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._keys: Remembered[StoredKey | None] = Remembered()
        self._streams: Remembered[Stream] = Remembered()

    def tenant(self, authorization: str | None, project: str | None) -> Tenant:
        """Return who sends; raises unless the key may."""
        token = token_of(authorization)
        key = self._keys.get(digest_of(token), lambda: find_key(self._service.database, token))
        if key is None:
            self._keys.forget(digest_of(token))
            raise Unauthorized("The key is not known, mistyped, expired or revoked.")
        check_rate(self._service, key)
        tenant = tenant_of(self._service, key, project)
        tenant.require("ingest")
        return tenant

    def remembers(self, authorization: str | None, project: str | None) -> bool:
        """Return whether :meth:`tenant` can answer without the database."""
        key = self._keys.find_known(digest_of(token_of(authorization)))
        return key is not None and (key.project is not None or project is None)

    def stream(self, tenant: Tenant, name: str) -> Stream:
        """Return a stream of the sender's project."""
        from fairtest.service.store.streams import find_stream, with_sampling

        secret = self._service.secret
        return self._streams.get((tenant.project, name), lambda: with_sampling(secret, find_stream(tenant, name)))

    def known_stream(self, tenant: Tenant, name: str) -> Stream | None:
        """Return a stream if it is remembered."""
        return self._streams.find_known((tenant.project, name))

    def forget(self, authorization: str | None, project: str, name: str) -> None:
        """Look the key and the stream up again: one of them has changed."""
        self._streams.forget((project, name))
        self._keys.forget(digest_of(token_of(authorization)))
