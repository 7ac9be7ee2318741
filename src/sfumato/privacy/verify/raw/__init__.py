"""For the holder: a release held against its raw rows."""
