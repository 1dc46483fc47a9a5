"""The words of a report: sentences, clauses, numbers."""
