"""The workloads of the paper, one script each: ``python -m examples.berkeley`` and so on.

Each script has a function ``ask`` with the calls of FairTest, ``run`` that puts its data together and asks, and
``tell`` that says what came out. ``docs/evaluation`` has a page on each.
"""
