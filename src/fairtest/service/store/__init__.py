"""What lasts: tables, the log of batches, segments, erasure, and the transactions that change them."""
