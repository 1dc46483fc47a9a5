"""What a column is: its kind, its levels, and how its values are encoded."""
