"""What is minimised, one module per kind of problem, as it is handed to the core."""
