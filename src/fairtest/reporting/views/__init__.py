"""What the page shows, as plain values for the templates."""
