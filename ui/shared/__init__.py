"""What all pages share: texts, state, jobs, errors and the theme."""
