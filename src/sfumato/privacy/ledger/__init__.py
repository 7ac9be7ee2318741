"""The holder's ledger: what has been released of which people and what it cost, over all runs.

Lines of JSON in a file that only the holder reads, chained by their hashes. A table is known by a keyed hash of its
content, in whatever order its rows stand, so that the ledger tells nobody what is in it; or by the name that the budget
gives its people. What is spent or released is written down before it happens, under a lock: two runs cannot both spend
the last share, and no release stands anywhere without its entry.
"""

from sfumato.privacy.ledger.chain import GENESIS, Chain, LedgerError
from sfumato.privacy.ledger.entries import Entry
from sfumato.privacy.ledger.fingerprints import fingerprint
from sfumato.privacy.ledger.ledger import Account, Ledger, ledger_path

__all__ = ["GENESIS", "Account", "Chain", "Entry", "Ledger", "LedgerError", "fingerprint", "ledger_path"]
