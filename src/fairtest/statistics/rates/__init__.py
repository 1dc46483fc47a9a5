"""Rates of groups: score tests and intervals."""
