"""The report: one self-contained page per publish, in an edition for the holder and one for everybody."""
