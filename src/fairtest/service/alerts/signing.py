"""Signatures by which a receiver knows that a webhook comes from this service (standardwebhooks.com).

The secret of a destination is derived from the secret of the service: nothing is stored. After it has been changed,
each message carries two signatures, by the new secret and by the one before, until it is changed once more; so a
receiver may change over whenever it likes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtest.service.guard.secrets import Secret


def webhook_secret(secret: Secret, project: str, destination: str, version: int) -> bytes:
    """Return the secret that signs messages to a destination."""
    return secret.derive("webhook", project, destination, str(version))


def show_secret(value: bytes) -> str:
    """Return a secret as receivers configure it."""
    return "whsec_" + base64.b64encode(value).decode()


def valid_secrets(secret: Secret, project: str, destination: str, version: int) -> list[bytes]:
    """Return the secrets that sign now: the newest, and the one before it."""
    return [webhook_secret(secret, project, destination, each) for each in range(version, max(version - 2, 0), -1)]


def signature_headers(secrets: list[bytes], message: str, moment: int, body: bytes) -> dict[str, str]:
    """Return the headers that identify and sign a message."""
    signed = f"{message}.{moment}.".encode() + body
    marks = [base64.b64encode(hmac.new(each, signed, hashlib.sha256).digest()).decode() for each in secrets]
    return {
        "webhook-id": message,
        "webhook-timestamp": str(moment),
        "webhook-signature": " ".join(f"v1,{mark}" for mark in marks),
    }
