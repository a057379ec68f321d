"""Linked tables on the pages: households and persons, patients and visits, waves of a panel."""
