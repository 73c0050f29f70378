"""Machines that label sequences, and structures of any kind."""
