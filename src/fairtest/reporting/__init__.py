"""Reports: their words, figures and formats. Nothing here computes a statistic."""
