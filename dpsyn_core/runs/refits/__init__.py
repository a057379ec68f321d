"""More tables from what a run released or others published, at no budget: other sizes, conditions, columns, rules."""
