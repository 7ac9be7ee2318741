"""What a release says to people and programs, made again from the certificate."""
