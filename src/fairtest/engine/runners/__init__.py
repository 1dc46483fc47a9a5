"""Where requests are answered: here, or on a cluster."""
