"""The forms of a report: text, HTML, JSON, CSV, Markdown, data frame."""
