"""Record least squares, the post-processing: from measurements to records. Blind: sees released values only."""
