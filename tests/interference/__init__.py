"""Non-interference: with every noisy answer fixed, one record more, less or other changes no byte of a release."""
