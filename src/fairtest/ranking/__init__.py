"""What matters: which significant contexts are shown, and in which order."""
