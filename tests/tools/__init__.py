"""The tools that make files about the project."""
