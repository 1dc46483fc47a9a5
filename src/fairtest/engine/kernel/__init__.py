"""Counting: codes in, sums out."""
