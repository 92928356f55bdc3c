"""Three made-up towns on loopback, and the whole pipeline run over their records: `make demo`."""
