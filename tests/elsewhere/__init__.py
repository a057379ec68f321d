"""Windows and macOS on a machine that is neither: what they lack is taken away, and the program is used."""
