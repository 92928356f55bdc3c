"""What `scripts/chaos` is made of: servers of its own, workers that die on command, trouble, and checks."""
