"""The formats of a report, one file each."""
