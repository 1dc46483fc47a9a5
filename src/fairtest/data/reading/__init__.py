"""Data in: frames, delimited text and files become columns."""
