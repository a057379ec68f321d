"""From measurements to records: start, update, polish, sample. Blind: sees released values only."""
