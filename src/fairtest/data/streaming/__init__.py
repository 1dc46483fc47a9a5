"""Data larger than memory: read in blocks, kept in scratch files, handed out by partition."""
