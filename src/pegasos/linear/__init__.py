"""Linear machines: their estimators and what only these need."""
