"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("fairtest", deadline=None)  # machines are noisy: no test fails for being slow
settings.load_profile("fairtest")
