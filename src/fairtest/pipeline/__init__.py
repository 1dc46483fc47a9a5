"""The stages in order: search on the training set, answers from a test set, reports."""
