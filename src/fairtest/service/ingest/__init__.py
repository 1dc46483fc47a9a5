"""From the bytes of a request to a checked table of records."""
