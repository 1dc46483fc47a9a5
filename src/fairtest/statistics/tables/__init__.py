"""Tables of counts: mutual information, its null distribution, random tables."""
