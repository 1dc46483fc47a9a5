"""What lasts between processes: the ledger of test sets, what they answered, and the reports."""
