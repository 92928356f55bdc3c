"""A page of a PDF: opened, judged, and read from its text layer or its image."""
