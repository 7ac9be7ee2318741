"""SipHash-2-4 of many 64-bit words at once (Aumasson and Bernstein 2012): a keyed function that answers no guesses.

Whoever has outcomes and not the key can tell them from random numbers only by what is equal among them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
LENGTH = np.uint64(8 << 56)
"""The last block of a message of eight bytes."""
BLOCK = 32_768
"""Words in one go: few enough to stay in the processor's cache, four times faster than a million at once."""


def siphash(words: Words, key: tuple[int, int]) -> Words:
    """(len(words),): the SipHash of each word as a message of eight bytes, little end first.

    >>> word = int.from_bytes(bytes(range(8)), "little")
    >>> key = (0x0706050403020100, 0x0F0E0D0C0B0A0908)
    >>> hex(siphash(np.array([word], dtype=np.uint64), key)[0])  # from the authors' test vectors
    '0x93f5f5799a932462'
    """
    hashes = np.empty_like(words)
    for at in range(0, len(words), BLOCK):
        hashes[at : at + BLOCK] = _block(words[at : at + BLOCK], key)
    return hashes


def _block(words: Words, key: tuple[int, int]) -> Words:
    state = [np.full(len(words), key[at % 2] ^ start, dtype=np.uint64) for at, start in enumerate(START)]
    for message in (words, LENGTH):
        state[3] ^= message
        _rounds(state, 2)
        state[0] ^= message
    state[2] ^= np.uint64(0xFF)
    _rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _rounds(state: list[Words], n: int) -> None:
    a, b, c, d = state
    spare = np.empty_like(a)
    for _ in range(n):
        a += b
        c += d
        _rotate(b, 13, spare)
        _rotate(d, 16, spare)
        b ^= a
        d ^= c
        _rotate(a, 32, spare)
        c += b
        a += d
        _rotate(b, 17, spare)
        _rotate(d, 21, spare)
        b ^= c
        d ^= a
        _rotate(c, 32, spare)


def _rotate(words: Words, bits: int, spare: Words) -> None:
    """Turn the bits of each word to the left, in place."""
    np.right_shift(words, np.uint64(64 - bits), out=spare)
    np.left_shift(words, np.uint64(bits), out=words)
    np.bitwise_or(words, spare, out=words)
