"""Where to look: subpopulations, and the searches that propose them on the training set."""
