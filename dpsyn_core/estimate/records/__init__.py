"""From measurements to records: start, update, polish, sample. They see released values only."""
