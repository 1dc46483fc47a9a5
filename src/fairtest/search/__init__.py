"""Where to look: the searches that propose contexts on the training set."""
