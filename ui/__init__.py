"""What pages share: words, state, jobs, forms, figures and the look. Holds no algorithm."""
