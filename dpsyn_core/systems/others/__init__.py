"""The other methods, one file or package a system; `synthesizers` holds the default method and what all share."""
