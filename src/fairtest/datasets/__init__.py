"""Data that FairTest makes itself: published counts, and populations with a truth that is known."""
