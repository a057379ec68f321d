"""Jobs: one run in a child process, in a folder of its own."""
