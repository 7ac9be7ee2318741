"""Where the processor's seconds of one publish go: a process of its own, which prints them by kind of work as JSON.

    python -m benchmarks.steps RECIPE TABLE OUTPUT

Seconds are user and system, of all threads. `imports` is what went by before the first step, reading the recipe
included; what is left over at the end, writing the folder and the ledger, is among `write`.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

PARTS = {
    "Reading the table": "read",
    "Finding the structure that must survive": "find",
    "Masking": "mask",
    "Measuring what survived": "measure",
    "Counting what is claimed": "verify",
    "Verifying the written file": "verify",
    "Attacking what is shown": "reports",
    "Trying what would show more": "reports",
    "Drawing the public report": "reports",
    "Drawing the holder's report": "reports",
}
"""Steps of a run, and the kind of work they are; all others write."""
KINDS = ("imports", "read", "find", "mask", "measure", "verify", "reports", "write")


@dataclass
class Clock:
    """Owns the seconds of the processor that each kind of work has taken, and when the one under way began."""

    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    since: float = 0.0

    def turn(self, kind: str) -> None:
        """All that went by since the last turn was of this kind."""
        now = time.process_time()
        self.spent[kind] += now - self.since
        self.since = now


def main(recipe: Path, table: Path, output: Path) -> None:
    """Publish, write, and print."""
    import sfumato as sf
    from sfumato.cli.lean import start_libraries
    from sfumato.events import Began, Ended, Event
    from sfumato.publishing import Run

    warnings.simplefilter("ignore")
    start_libraries()
    asked, clock, begun = sf.Recipe.from_yaml(recipe), Clock(), False

    def listen(event: Event) -> None:
        nonlocal begun
        if isinstance(event, Began):
            clock.turn("write" if begun else "imports")
            begun = True
        elif isinstance(event, Ended):
            clock.turn(PARTS.get(event.step, "write"))

    sf.publish(str(table), asked, run=Run(listener=listen, suggest=True)).write(output)
    clock.turn("write")
    print(json.dumps(clock.spent))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
