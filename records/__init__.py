"""For readers: search, the reader, a home per site. It reads what deploy published and changes nothing."""
