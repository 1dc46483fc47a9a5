"""The dashboard: pages that are written by the server, need no network and work without a script."""
