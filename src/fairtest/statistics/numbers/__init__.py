"""Numbers: correlations, ranks and means by group."""
