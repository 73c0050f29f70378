"""Hostile files: what they are made of (`mutations`), what reads them (`formats`), and the fuzzers (`make fuzz`)."""
