"""The way in from the shell: an interrupt ends the command quietly, also while the library is still being loaded."""

from __future__ import annotations

import os
import sys


def run() -> None:
    """Run the command and exit."""
    try:
        from fairtest.cli.main import main  # loads click and the commands

        main()
    except KeyboardInterrupt:
        sys.stderr.write("\nfairtest: interrupted; no report was written.\n")
        sys.stderr.flush()
        os._exit(130)  # what was being loaded has nothing to tidy up, and may not survive a second interrupt
