"""Rows as keyed numbers: of the table as it was read, before a schema changes anything in it.

A cell's number follows from the ledger's secret, the column's name and what the cell says, not from how it is stored:
"40", 40 and 40.0 are one value, and so are a missing cell and an empty one. Two values that get one number by
accident, or by these rules, make two tables a little more alike than they are: that can cost a warning too many.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.sources.source import RawColumn
from sfumato.data.table import Column
from sfumato.privacy.ledger.chain import lost_key, sync, unwritable

Words = NDArray[np.uint64]
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
BLOCK = 32_768
"""Rows in one go: few enough that what is made on the way stays in the processor's cache."""
MISSING, EMPTY = 0, 1
"""Which of a column's keys stands for a missing cell, and which for an empty set."""


class Hashing:
    """Owns the keys of one column, and the numbers of the dictionary that was last met."""

    def __init__(self, name: str, secret: Secret) -> None:
        self.keys, self.secret = secret.words(f"column {name}", 6), secret
        self._known: tuple[Any, Words] | None = None

    def blocks(self, data: RawColumn) -> Iterator[Words]:
        """(rows of a block,) for each block of rows: the number of each cell."""
        if isinstance(data, Column):
            words = self._dictionary(data.values)  # the code behind the last is that of a missing one
            return (words[data.codes[at : at + BLOCK]] for at in range(0, len(data), BLOCK))
        if pt.is_string(data.type) or pt.is_large_string(data.type):
            data = data.dictionary_encode()  # each value is hashed once
        return (self.of(chunk.slice(at, BLOCK)) for chunk in data.chunks for at in range(0, len(chunk), BLOCK))

    def of(self, array: pa.Array[Any]) -> Words:
        """(len(array),): a number for each value, by what it says."""
        if isinstance(array, pa.DictionaryArray):
            indices = array.indices
            at = (indices.cast(pa.int64()).fill_null(-1) if indices.null_count else indices).to_numpy()
            found: Words = self._dictionary(array.dictionary)[at]  # -1 is the last: missing
            return found
        if _is_list(array.type):
            return self._filled(array, self._sets(array.cast(pa.large_list(array.type.value_type))))
        if pt.is_string(array.type) or pt.is_large_string(array.type) or pt.is_string_view(array.type):
            return self._texts(array.cast(pa.large_string()))
        if pt.is_integer(array.type) or pt.is_floating(array.type) or pt.is_decimal(array.type):
            return self._filled(array, self._numbers(array.cast(pa.float64(), safe=False)))
        return self._filled(array, self._texts(_written(array)))

    def _dictionary(self, values: pa.Array[Any]) -> Words:
        """The number of each value, and at the end that of a missing one; chunks often share their dictionary."""
        place = [None if part is None else part.address for part in values.buffers()], values.offset, len(values)
        if self._known is None or self._known[0] != place:
            self._known = place, np.append(self.of(values), self.keys[MISSING])
        return self._known[1]

    def _filled(self, array: pa.Array[Any], words: Words) -> Words:
        if array.null_count:
            words[pc.is_null(array).to_numpy(zero_copy_only=False)] = self.keys[MISSING]
        return words

    def _numbers(self, numbers: pa.Array[Any]) -> Words:
        floats = numbers.fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0  # no negative zero
        floats[np.isnan(floats)] = np.nan  # one of the many
        return mixed(floats.view(np.uint64), self.keys[2], self.keys[5])

    def _texts(self, texts: Any) -> Words:
        texts = cast(pa.LargeStringArray, pc.utf8_trim_whitespace(texts).fill_null(""))
        words = mixed(self._sums(texts), self.keys[3], self.keys[5])
        words[pc.equal(texts, pa.scalar("", pa.large_string())).to_numpy(zero_copy_only=False)] = self.keys[MISSING]
        like_numbers = pc.match_substring_regex(texts, NUMBER)
        if pc.any(like_numbers).as_py():
            at = like_numbers.to_numpy(zero_copy_only=False)
            words[at] = self._numbers(pc.utf8_ltrim(texts.filter(like_numbers), "+").cast(pa.float64()))
        return words

    def _sums(self, texts: pa.LargeStringArray) -> Words:
        """A text's sum of bytes, each times the key of its place: multilinear hashing (Carter and Wegman 1979)."""
        _, places, content = texts.buffers()
        if not len(texts) or places is None or content is None:
            return np.zeros(len(texts), dtype=np.uint64)
        offsets = np.frombuffer(memoryview(places), dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
        chars = np.frombuffer(memoryview(content), dtype=np.uint8)[offsets[0] : offsets[-1]]
        lengths, begins = np.diff(offsets), offsets - offsets[0]
        at = np.arange(len(chars)) - np.repeat(begins[:-1], lengths)
        sums = np.zeros(len(chars) + 1, dtype=np.uint64)
        keys = self.secret.words("places", int(lengths.max()))
        np.cumsum((chars.astype(np.uint64) + np.uint64(1)) * keys[at], out=sums[1:])
        found: Words = sums[begins[1:]] - sums[begins[:-1]]
        return found

    def _sets(self, lists: pa.Array[Any]) -> Words:
        """A set's number follows from the sum of its items', in whatever order they stand."""
        owners = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
        items = self.of(pc.list_flatten(lists))
        sums = np.full(len(lists), self.keys[EMPTY], dtype=np.uint64)
        np.add.at(sums, owners, items)
        return mixed(sums, self.keys[4], self.keys[5])


def mixed(words: Words, one: np.uint64, two: np.uint64) -> Words:
    """(len(words),): every bit depends on every bit of the word and of both keys: multiplied and folded twice."""
    found = words ^ one
    found *= two | np.uint64(1)
    found ^= found >> np.uint64(32)
    found *= one | np.uint64(1)
    found ^= found >> np.uint64(29)
    return found


def _is_list(kind: pa.DataType) -> bool:
    tests = (pt.is_list, pt.is_large_list, pt.is_fixed_size_list, pt.is_list_view, pt.is_large_list_view)
    return any(test(kind) for test in tests)


def _written(array: pa.Array[Any]) -> pa.Array[Any]:
    """Dates, times, truth values and whatever else as the text that a file of text would hold."""
    if pt.is_timestamp(array.type):
        array = array.cast(pa.timestamp("us"), safe=False)
    try:
        texts = array.cast(pa.large_string())
    except pa.ArrowException:  # no type that Arrow writes
        texts = pa.array([None if value is None else str(value) for value in array.to_pylist()], pa.large_string())
    if pt.is_timestamp(array.type):
        texts = pc.replace_substring_regex(texts, r"( 00:00:00)?\.?0*$", "")
    return texts


# The ledger's secret: random bytes in a file beside it, made once, and whatever is drawn from them.
KEY_BYTES = 32


@dataclass(frozen=True)
class Secret:
    """Key material by purpose: whoever lacks the bytes can compute none of it, and so test no guess."""

    key: bytes

    def digest(self, purpose: str, content: bytes) -> str:
        """A keyed hash in 32 hexadecimal digits."""
        return hashlib.blake2b(content, key=self._of(purpose), digest_size=16).hexdigest()

    def words(self, purpose: str, n: int) -> NDArray[np.uint64]:
        """(n,): numbers that look random, always the same for a purpose; more of them begin with the fewer."""
        seed = int.from_bytes(self._of(purpose)[:16], "little")
        return np.random.Generator(np.random.Philox(key=seed)).integers(0, 2**64, size=n, dtype=np.uint64)

    def pair(self, purpose: str) -> tuple[int, int]:
        """The two halves of a 128-bit key."""
        content = self._of(purpose)
        return int.from_bytes(content[:8], "little"), int.from_bytes(content[8:16], "little")

    def _of(self, purpose: str) -> bytes:
        return hashlib.blake2b(purpose.encode(), key=self.key, digest_size=32).digest()


def read_secret(path: Path) -> Secret | None:
    """The secret in a file; None where there is no file."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise lost_key(path, error.strerror or type(error).__name__) from None
    if len(key) != KEY_BYTES:
        raise lost_key(path, "one of another length")
    return Secret(key)


def make_secret(path: Path) -> Secret:
    """A new one, for its owner's eyes. A kill or a full disk leaves a whole key or none."""
    key, fresh = secrets.token_bytes(KEY_BYTES), path.with_suffix(".fresh")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        sync(path.parent)
    except OSError as error:
        raise unwritable(path, error) from None
    return Secret(key)
