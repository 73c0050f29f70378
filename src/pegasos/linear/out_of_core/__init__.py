"""Training on data sets that are larger than memory, block by block."""
