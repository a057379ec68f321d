"""Jobs: one run in a child process, in a separate folder."""
