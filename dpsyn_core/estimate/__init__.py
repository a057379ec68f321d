"""From released values to records: nothing here reads a record or draws privacy noise."""
