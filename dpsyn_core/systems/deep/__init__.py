"""Deep generative systems: P3GM and its family, trained by sums that leave the gate with noise."""
