"""Kinds of attributes of the schema document, one file a kind; `registry` lists them."""
