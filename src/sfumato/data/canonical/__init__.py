"""The one form in which a table goes out: equal values give equal bytes, whatever wrote or held them before.

Nobody else's library writes these files, for the bytes that a library writes change with its version and have room
for more than values. `columns` names the few types that there are, `parquet` and `csv` write them.
"""
