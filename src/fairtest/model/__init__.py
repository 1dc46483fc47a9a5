"""What flows through an audit: plans, questions, contexts, findings, results and the report. Plain data."""
