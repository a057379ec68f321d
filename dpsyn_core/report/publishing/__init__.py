"""Documents that go with a published release: Croissant, the registry of deployments, NIST SP 800-226."""
