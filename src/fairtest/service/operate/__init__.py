"""Starting, supervising and checking the service."""
