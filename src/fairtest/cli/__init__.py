"""The command line: one file for each command. It holds no statistics, and starts without loading the library."""
