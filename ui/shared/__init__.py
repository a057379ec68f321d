"""What all pages share: words, state, jobs, errors and the look."""
