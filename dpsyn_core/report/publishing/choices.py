"""What the registry of deployments knows to choose from, as of July 2026; light, for the command's help."""

CURATORS = ("Government", "Industry", "Nonprofit")
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
