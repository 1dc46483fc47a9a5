"""What FairTest costs, beside a yardstick measured in the same run."""
