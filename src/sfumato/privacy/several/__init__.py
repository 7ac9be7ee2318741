"""Several releases of a table that grows: what is left of anonymity when they are held side by side.

Fung, Wang, Fu and Pei, "Anonymity for continuous data publishing", EDBT 2008. The attacker has every release, knows the
target's quasi-identifier and since which release the target is in the table, and cannot join rows; what is not masked
(sensitive and plain columns) stays the same from release to release.

`cracking` has the paper's forward, cross and backward attacks on two releases. They look at one pair of groups at a
time; `worlds` looks at all groups of all releases at once, so it never finds more anonymity than they do, and it is
what is promised.
"""

from sfumato.privacy.several.cracking import Cracked, cracked
from sfumato.privacy.several.views import View
from sfumato.privacy.several.worlds import anonymity

__all__ = ["Cracked", "View", "anonymity", "cracked"]
