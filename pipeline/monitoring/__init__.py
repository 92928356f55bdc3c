"""What monitors ask: is it alive, is it ready, is it well, and every figure."""
