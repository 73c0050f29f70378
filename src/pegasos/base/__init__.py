"""What all kinds of estimators share."""
