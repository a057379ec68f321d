"""The Release page: whoever has only the released files groups, filters and plots them."""
