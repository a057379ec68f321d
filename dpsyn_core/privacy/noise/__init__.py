"""Integer privacy noise from the operating system's entropy; no seed anywhere."""
