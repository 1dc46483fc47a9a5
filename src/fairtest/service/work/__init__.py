"""What happens by itself: leases, tickers, sealing, runs."""
