"""Parts of `dpsyn schema`: a draft, the purchase of values, and the check of a schema."""
