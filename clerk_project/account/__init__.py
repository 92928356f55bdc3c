"""What is a person's own: password, second factor, tokens, and the way in by invitation or single sign-on."""
