"""Corrections for many hypotheses."""
