"""The child process that reads a document, and the warm parent that forks it."""
