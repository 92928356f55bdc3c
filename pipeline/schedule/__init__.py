"""When sites are checked: each site's rhythm, its next slot, and starting what is due, once."""
