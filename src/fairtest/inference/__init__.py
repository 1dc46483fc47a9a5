"""Is it real: p-values, intervals and corrections on a test set the search has not seen."""
