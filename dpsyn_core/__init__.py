"""DPSyn Studio engine: from a private table to a differentially private one."""
