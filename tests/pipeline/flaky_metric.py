"""A metric that fails when a test wants it to."""

from __future__ import annotations


class Flaky:
    """A metric of counts that can be made to fail."""

    error: BaseException | None = None

    def __call__(self, counts):
        if self.error is not None:
            raise self.error
        rates = counts[..., 1, :].sum(axis=-2) / counts.sum(axis=(-3, -2))
        return rates[..., 1] - rates[..., 0]
