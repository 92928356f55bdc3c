"""What the migrations of `sites` need on a database that the old system made."""
