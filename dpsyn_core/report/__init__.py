"""Figures, the HTML report and the certificate."""
