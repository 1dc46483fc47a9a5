"""Numerical tools that the tests and intervals share."""
