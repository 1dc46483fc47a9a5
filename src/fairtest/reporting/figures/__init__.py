"""The figures of a report: where marks stand, and how they are drawn."""
