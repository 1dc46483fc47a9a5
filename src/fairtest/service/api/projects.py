"""Routes of projects and keys."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from fairtest.service.api.access import Anyone, Manager, ServiceManager
from fairtest.service.api.listing import After, Limit, page_of
from fairtest.service.api.models import NewKey, NewProject, Page, moment
from fairtest.service.errors import BadRequest
from fairtest.service.store import projects, trail
from fairtest.service.store.projects import StoredKey
from fairtest.service.store.trail import Entry

router = APIRouter(tags=["projects and keys"])


@router.get("/me")
def who_am_i(tenant: Anyone) -> dict[str, Any]:
    """Say what the key of the request may do."""
    return {"key": tenant.who, "project": tenant.bound_to, "scopes": sorted(tenant.scopes)}


@router.get("/projects", response_model=Page)
def list_projects(
    tenant: ServiceManager, request: Request, response: Response, limit: Limit = 50, after: After = None
) -> dict[str, Any]:
    """List projects."""
    found = projects.list_projects(tenant.database, after, limit + 1)
    return page_of(request, response, found, limit, _show_project, lambda row: str(row.name))


@router.post("/projects", status_code=201)
def create_project(tenant: ServiceManager, given: NewProject) -> dict[str, Any]:
    """Make a project."""
    created = projects.create_project(tenant.database, tenant.who, given.name)
    return {"name": given.name, "created": moment(created)}


@router.get("/projects/{project}")
def get_project(tenant: ServiceManager, project: str) -> dict[str, Any]:
    """Return a project."""
    return _show_project(projects.find_project(tenant.database, project))


@router.delete("/projects/{project}", status_code=204)
def delete_project(tenant: ServiceManager, project: str, confirm: Annotated[str, Query(max_length=64)] = "") -> None:
    """Delete a project with everything in it."""
    projects.find_project(tenant.database, project)
    if confirm != project:
        raise BadRequest(f"This deletes all records, monitors and reports of it: add ?confirm={project}.")
    projects.delete_project(tenant.database, tenant.who, project)


@router.get("/keys", response_model=Page)
def list_keys(
    tenant: Manager, request: Request, response: Response, limit: Limit = 50, after: After = None
) -> dict[str, Any]:
    """List the keys of the project, or of the whole service."""
    found = projects.list_keys(tenant.database, tenant.bound_to, after, limit + 1)
    return page_of(request, response, found, limit, _show_key, lambda key: str(key.id))


@router.post("/keys", status_code=201)
def create_key(tenant: Manager, given: NewKey) -> dict[str, Any]:
    """Make a key; its secret is in this answer only."""
    expires = None if given.expires_in_days is None else time.time() + 86400 * given.expires_in_days
    made, stored = projects.create_key(tenant.database, tenant.who, tenant.bound_to, given.scopes, given.label, expires)
    return {**_show_key(stored), "secret": made.text}


@router.delete("/keys/{key_id}", status_code=204)
def revoke_key(tenant: Manager, key_id: str) -> None:
    """Revoke a key at once."""
    projects.revoke_key(tenant.database, tenant.who, key_id, tenant.bound_to)


@router.get("/audit", response_model=Page)
def list_audit(
    tenant: Manager, request: Request, response: Response, limit: Limit = 50, after: After = None
) -> dict[str, Any]:
    """List who did what in the project, or in the whole service, the latest first."""
    if after is not None and not (after.isascii() and after.isdigit() and len(after) < 19):
        raise BadRequest("'after' must be what 'next' of the part before was.")
    found = trail.list_entries(tenant, None if after is None else int(after), limit + 1)
    return page_of(request, response, found, limit, _show_entry, lambda each: str(each.number))


def _show_entry(each: Entry) -> dict[str, Any]:
    names = ("number", "project", "who", "what", "object", "hash")
    return {**{name: getattr(each, name) for name in names}, "moment": moment(each.moment)}


def _show_project(row: Any) -> dict[str, Any]:
    return {"name": row.name, "created": moment(row.created)}


def _show_key(key: StoredKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "project": key.project,
        "scopes": sorted(key.scopes),
        "label": key.label,
        "created": moment(key.created),
        "expires": moment(key.expires),
        "last_used": moment(key.last_used),
        "revoked": moment(key.revoked),
    }
