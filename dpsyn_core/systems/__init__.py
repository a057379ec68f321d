"""Systems: one file each; a frozen config becomes a calibrated synthesizer."""
