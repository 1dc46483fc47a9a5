"""The version of FairTest."""

__version__ = "0.1.0"
