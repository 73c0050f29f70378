"""Faults, injected: changed files, broken arrays, full disks, killed processes.

``python -m tests.faults`` injects many and counts what came of each: it was refused with an error, or work went on
unharmed; or else there is a crash, a hang, lost work or a silent change, of which there must be none. ``make faults``
does so and writes docs/reliability.json, of which the table of docs/reliability.md is made.

Each fault is drawn from a seed, its kind and its number, and so can be had again: ``--kinds "model files" --only 17``.
"""
