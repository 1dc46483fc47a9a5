"""Say it: the report as text, HTML and JSON. Nothing here computes a statistic."""
