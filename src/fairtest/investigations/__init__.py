"""What is asked: the investigations, and the questions each of them puts to the data."""
