"""Permutation, bootstrap, and how many draws a decision needs."""
