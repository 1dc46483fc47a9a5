"""What a page shows: values for the templates."""
