"""What `scripts/with-services` is made of; standard library only, so that any Python 3.11 can run it."""
