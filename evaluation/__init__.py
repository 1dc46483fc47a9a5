"""The paper's evaluation, run again: ``make evaluate``.

``published`` has the numbers of the paper and of its prototype, ``records`` those of a run, ``conclusions`` says which
of the paper's hold, ``drawing`` makes the figures, and ``pages`` writes all of it into ``docs/evaluation``.
"""
