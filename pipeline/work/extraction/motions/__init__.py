"""What was moved, how it ended, and who voted how."""
