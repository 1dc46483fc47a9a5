"""The figures of a report: what they show, and the positions of their marks."""
