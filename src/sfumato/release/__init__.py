"""The release: a folder that can be handed over, its certificate, and the holder's folder beside it."""
