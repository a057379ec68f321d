"""Findings: what somebody would get wrong who believed a synthetic table. Private: for the owner of the real one."""
