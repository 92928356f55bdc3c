"""An installation of the old system on its worst day."""
