"""DPSyn as entered in the NIST 2018 challenge: random views, or marginals that a person engineers in public."""
