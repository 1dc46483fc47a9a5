"""Sends what an application decides to a FairTest service: no dependencies, nothing dropped silently.

::

    from fairtest_client import Client

    with Client("https://fairtest.example", key="ftk_…") as client:
        loans = client.stream("loans")
        loans.send(id="a-1", sex="f", age=41, granted=False)
"""

from fairtest_client.client import Client
from fairtest_client.errors import (
    BufferFull,
    ClientError,
    Closed,
    InvalidRecord,
    InvalidSetting,
    NoAnswer,
    NotDelivered,
    Rejected,
    Rejection,
)
from fairtest_client.logs import RecordHandler
from fairtest_client.models import watched
from fairtest_client.sampling import Sample
from fairtest_client.stream import Counts, Stream, Unsent
from fairtest_client.version import __version__

__all__ = [
    "BufferFull",
    "Client",
    "ClientError",
    "Closed",
    "Counts",
    "InvalidRecord",
    "InvalidSetting",
    "NoAnswer",
    "NotDelivered",
    "RecordHandler",
    "Rejected",
    "Rejection",
    "Sample",
    "Stream",
    "Unsent",
    "__version__",
    "watched",
]
