"""Rules of a schema: what they say, how records are checked against them and repaired to keep them."""
