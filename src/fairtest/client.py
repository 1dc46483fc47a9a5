"""The client of the monitoring service, where the package ``fairtest-client`` is installed.

The client is a package of its own, since an application that sends records needs nothing else of FairTest.
"""

from __future__ import annotations

try:
    from fairtest_client import *  # noqa: F403
    from fairtest_client import __all__  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "fairtest_client":  # it is installed, and something is wrong with it
        raise
    message = "fairtest.client needs the package fairtest-client. Install it: pip install fairtest-client"
    raise ModuleNotFoundError(message, name="fairtest_client") from error
