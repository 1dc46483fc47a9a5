"""One message to one e-mail address."""

from __future__ import annotations

import re
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate
from typing import TYPE_CHECKING

from fairtest.service.alerts.webhook import Outcome
from fairtest.service.errors import BadRequest

if TYPE_CHECKING:
    from fairtest.service.alerts.settings import MailServer

WITHIN = 10.0
ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")


def check_mail_address(text: str) -> str:
    """Return an e-mail address, or say what it must be.

    Examples
    --------
    >>> check_mail_address("ops@example.com")
    'ops@example.com'
    """
    if len(text) > 254 or not ADDRESS.fullmatch(text):
        raise BadRequest(
            f"The address of an e-mail destination must be like ops@example.com. Got {text[:80]!r} instead."
        )
    return text


def write_mail(server: MailServer, to: str, message_id: str, subject: str, text: str) -> EmailMessage:
    """Return a message; its id is that of the delivery, so that one sent twice after a crash can be told."""
    message = EmailMessage()
    message["Subject"] = " ".join(subject.split())[:200]  # names of columns come from users: no line may end early
    message["From"] = server.sender
    message["To"] = to
    message["Date"] = formatdate()
    message["Message-ID"] = f"<{message_id}@{server.sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    return message


def send_mail(server: MailServer, message: EmailMessage, tls: ssl.SSLContext | None = None) -> Outcome:
    """Hand a message in."""
    context = tls or ssl.create_default_context()
    try:
        if server.security == "tls":
            connection: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=WITHIN, context=context)
        else:
            connection = smtplib.SMTP(server.host, server.port, timeout=WITHIN)
        with connection:
            if server.security == "starttls":
                connection.starttls(context=context)
            if server.user:
                connection.login(server.user, server.password)
            connection.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        final = all(code >= 500 for code in codes)
        return Outcome(False, f"The mail server does not take this address ({codes[0]}).", final)
    except smtplib.SMTPResponseException as error:
        return Outcome(False, f"The mail server answered {error.smtp_code}.")
    except (OSError, smtplib.SMTPException) as error:
        return Outcome(False, f"The mail server could not be used ({type(error).__name__}).")
    return Outcome(True)
