"""What is asked about one attribute at the moment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Refinement


class AttributeState:
    """Owns what is asked about one attribute now: which value each position holds, and its next child."""

    def __init__(self, size: int) -> None:
        self.value_at: NDArray[np.int32] = np.zeros(size, dtype=np.int32)
        self.child_at: NDArray[np.uint16] = np.zeros(size, dtype=np.uint16)
        self.asked: NDArray[np.bool_] = np.zeros(1, dtype=bool)
        self.parts: dict[int, tuple[tuple[int, int], ...]] = {}
        self.disclosing = False

    @property
    def active(self) -> bool:
        """Whether any of its values may still be refined."""
        return self.disclosing or bool(self.asked.any())

    def ask(self, candidates: Sequence[Refinement]) -> list[int]:
        """Take up this round's candidates; gives the values whose children are other than before."""
        self.disclosing = any(candidate.rest for candidate in candidates)
        highest = max((candidate.value for candidate in candidates), default=0)
        self.asked = np.zeros(max(highest + 1, int(self.value_at.max()) + 1), dtype=bool)
        changed = []
        for candidate in candidates if not self.disclosing else ():
            self.asked[candidate.value] = True
            if self.parts.get(candidate.value) != candidate.parts:
                if candidate.value in self.parts:
                    changed.append(candidate.value)
                self.parts[candidate.value] = candidate.parts
                for child, (first, end) in enumerate(candidate.parts):
                    self.child_at[first:end] = child
        return changed

    def refine(self, step: Refinement) -> None:
        """Write the children's numbers over the value's positions."""
        for (first, end), child in zip(step.parts, step.children, strict=False):
            self.value_at[first:end] = child
