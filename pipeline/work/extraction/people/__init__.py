"""Who was there: names as minutes write them, and the roll call."""
