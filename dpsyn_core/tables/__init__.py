"""Reading and writing tables, and their cells as canonical text. Knows no schema, no counts and no noise."""
