"""The holder's ledger: what has been released of which people and what it cost, over all runs.

Lines of JSON in a file that only the holder reads, chained by their hashes. People are known by the name that a recipe
gives them, and by their table as it was read: by keyed hashes of its columns and keyed sketches of its rows, so that
the ledger tells nobody what is in it. What is spent or released is written down before it happens, under a lock: two
runs cannot both spend the last share, and no release stands anywhere without its entry.
"""

from sfumato.privacy.ledger.chain import GENESIS, Chain, LedgerError
from sfumato.privacy.ledger.entries import Entry, Likeness, People, spent_on
from sfumato.privacy.ledger.ledger import Account, Known, Ledger, Rules, ledger_path

__all__ = [
    "GENESIS",
    "Account",
    "Chain",
    "Entry",
    "Known",
    "Ledger",
    "LedgerError",
    "Likeness",
    "People",
    "Rules",
    "ledger_path",
    "spent_on",
]
