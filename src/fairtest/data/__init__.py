"""What enters: tables of people, the kinds of their columns, and the split into training and test sets."""
