"""What pages are made of: texts, state, jobs, forms, figures and the theme. Holds no algorithm."""
