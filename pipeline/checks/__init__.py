"""Questions whose right answer is an empty list; `pipeline.verify` asks them."""
