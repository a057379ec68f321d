"""Public metadata: attributes, domains, bins, codecs and reading. Knows nothing of counts or noise."""
