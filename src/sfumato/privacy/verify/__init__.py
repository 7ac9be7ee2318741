"""The gate: read a written release with other eyes, and recount every claim of its certificate from scratch.

Nothing here is shared with the code that masks and writes: only `sfumato.errors` is imported. Parquet is read
by polars and CSV by pyarrow, each the library that did not write it.

Reading order for whoever wants to believe it: `gate` (the list of checks), `claims` (the group-by), `recoding`
(what may be shown), `table` (what the file holds), `parquet` (what else lies in the file), `raw` (for the holder).
"""

from sfumato.privacy.verify.claims import CLAIMS
from sfumato.privacy.verify.gate import verify
from sfumato.privacy.verify.verdict import Check, Verdict

__all__ = ["CLAIMS", "Check", "Verdict", "verify"]
