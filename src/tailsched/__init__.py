"""tailsched."""
