"""Calibration: do tests keep their level and intervals their coverage, on the product itself.

Run with ``python -m calibration`` from the root of the repository (``make calibrate``).
"""
