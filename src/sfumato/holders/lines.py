"""How a coordinator and a holder talk: one line of JSON for a question, one for its answer, and all of it is kept.

A holder in another process, or on another machine, is a command that reads questions and writes answers: `sfumato hold
TABLE RECIPE`, perhaps behind `ssh`, which sees to who may ask and that nobody listens.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Any, Protocol, Self, runtime_checkable

from sfumato.errors import TableError
from sfumato.holders.holder import Holder, Message

LONGEST = 2**31
"""Characters of one answer."""
PATIENCE = 20
"""Seconds that a holder has to end once nothing more is asked."""


@dataclass
class Transcript:
    """Owns every line that one party has seen: what it was told, and what it said."""

    seen: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@runtime_checkable
class Line(Protocol):
    """Somebody who can be asked."""

    @property
    def transcript(self) -> Transcript:
        """What the coordinator has seen of this holder, and said to it."""

    def ask(self, question: Message) -> dict[str, Any]:
        """The answer to a question."""


@dataclass(eq=False)
class LocalHolder:
    """A holder in the same process: for tests, and where one program holds both tables."""

    holder: Holder
    called: str = "a holder"
    transcript: Transcript = field(default_factory=Transcript)

    def ask(self, question: Message) -> dict[str, Any]:
        """Through the same lines of JSON as everywhere."""
        return _asked(self, question, lambda line: written(self.holder.answer(json.loads(line))))


@dataclass(eq=False)
class RemoteHolder:
    """A holder behind a command, which runs as long as the `with` block does."""

    command: Sequence[str]
    called: str = "a holder"
    transcript: Transcript = field(default_factory=Transcript)
    _process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            list(self.command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        process = self._process
        if process is None or process.stdin is None:
            return
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.terminate()

    def ask(self, question: Message) -> dict[str, Any]:
        """Written to the command, read from it."""
        return _asked(self, question, self._exchange)

    def _exchange(self, line: str) -> str:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise AssertionError("a holder is asked inside its `with` block")
        try:
            process.stdin.write(line)
            process.stdin.flush()
        except BrokenPipeError:
            return ""
        return process.stdout.readline(LONGEST)


def _asked(line: LocalHolder | RemoteHolder, question: Message, exchange: Any) -> dict[str, Any]:
    text = written(question)
    line.transcript.said.append(text)
    answer = exchange(text)
    line.transcript.seen.append(answer)
    try:
        found = json.loads(answer)
    except ValueError:
        found = {"error": "it ended, or said something else than an answer"}
    if not isinstance(found, dict) or "error" in found:
        given = found["error"] if isinstance(found, dict) else "something else than an answer"
        raise TableError(line.called, "every holder answers", given=str(given), remedy="mend it there; nothing is left")
    return found


def written(message: Message) -> str:
    """A message as it travels."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def hold(holder: Holder, questions: Iterable[str], answers: IO[str]) -> Transcript:
    """Answer every line that comes, until no more do; what was seen and said is given back."""
    kept = Transcript()
    for line in questions:
        kept.seen.append(line)
        try:
            question = json.loads(line)
        except ValueError:
            question = {}
        kept.said.append(written(holder.answer(question if isinstance(question, dict) else {})))
        answers.write(kept.said[-1])
        answers.flush()
    return kept
