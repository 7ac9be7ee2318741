"""Attacks on masked tables, for the holder's eyes: what an attacker needs to know, and how far that takes him."""
