"""Files of each release, which later ones must read: models of every kind, with predictions, and data sets.

``python -m tests.golden`` writes those of the version that is installed, to a folder of its name.
"""
