"""Compiled loops of k-means on codes. Arrays in, arrays changed in place; their slow twin is `tests/kmeans_twin.py`.

How all lanes of a record are added up at once is told to the compiler in its own words (`_add_up`): of a loop over so
few it makes no vectors, and takes more than twice as long.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from sfumato.arrays import Floats
from sfumato.structure.kmeans.ground import LANES, NOBODYS, Counts, Ground, Labels, Rows

ir: Any = import_module("llvmlite.ir")
llvm: Any = import_module("numba.core.cgutils")
Codes = NDArray[Any]
"""(rows, attributes) of uint8, uint16 or uint32"""
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
"""The lanes of a record in the registers of the processor; where those are shorter, the compiler takes several."""


def _one_record(_: Any, first: Any, codes: Any, looked: Any, base: Any, apart: Any, where: Any) -> Any:
    """Write to apart[row, stack] what base[stack] and looked[first[a] + codes[row, a], stack] of all attributes a add
    up to, all lanes at once. `where`: the row and the stack."""
    if any(array.layout != "C" for array in (first, codes, looked, base, apart)):
        return None  # their entries stand elsewhere: numba tells that there is no such function

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        arrays = [context.make_array(signature.args[at])(context, builder, given[at]) for at in range(5)]
        of_first, of_codes, of_looked, of_base, of_apart = arrays
        at_row, at_stack = (builder.extract_value(given[5], at) for at in (0, 1))
        attributes, stacks = builder.extract_value(of_codes.shape, 1), builder.extract_value(of_base.shape, 0)

        def lanes(array: Any, line: Any) -> Any:
            """The address of this stack's lanes in a line of an array (lines, stacks, lanes)."""
            at = builder.mul(builder.add(builder.mul(line, stacks), at_stack), ir.Constant(at_row.type, LANES))
            return builder.bitcast(builder.gep(array.data, [at]), VECTOR.as_pointer())

        total = llvm.alloca_once(builder, VECTOR)
        builder.store(builder.load(lanes(of_base, ir.Constant(at_row.type, 0)), align=8), total)
        with llvm.for_range(builder, attributes) as loop:
            place = builder.add(builder.mul(at_row, attributes), loop.index)
            code = builder.zext(builder.load(builder.gep(of_codes.data, [place])), at_row.type)
            line = builder.add(builder.load(builder.gep(of_first.data, [loop.index])), code)
            more = builder.load(lanes(of_looked, line), align=8)
            builder.store(builder.fadd(builder.load(total), more), total)
        builder.store(builder.load(total), lanes(of_apart, at_row), align=8)
        return context.get_dummy_value()

    return types.void(first, codes, looked, base, apart, where), generate


def _one_set(_: Any, members: Any, centres: Any, apart: Any, where: Any, held: Any, share: Any) -> Any:
    """Add to apart[row, stack] share[0] - share[1] * centres[members[m], stack] of one member m after the other, all
    lanes at once. `where`: the row and the stack; `held`: the first of its members, and that after the last."""
    if any(array.layout != "C" for array in (members, centres, apart)):
        return None

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        arrays = [context.make_array(signature.args[at])(context, builder, given[at]) for at in range(3)]
        of_members, of_centres, of_apart = arrays
        at_row, at_stack = (builder.extract_value(given[3], at) for at in (0, 1))
        first, end = (builder.extract_value(given[4], at) for at in (0, 1))
        stacks = builder.extract_value(of_apart.shape, 1)
        square, twice = (_everywhere(builder, builder.extract_value(given[5], at)) for at in (0, 1))

        def lanes(array: Any, line: Any) -> Any:
            at = builder.mul(builder.add(builder.mul(line, stacks), at_stack), ir.Constant(at_row.type, LANES))
            return builder.bitcast(builder.gep(array.data, [at]), VECTOR.as_pointer())

        total = llvm.alloca_once(builder, VECTOR)
        builder.store(builder.load(lanes(of_apart, at_row), align=8), total)
        with llvm.for_range_slice(builder, first, end, ir.Constant(first.type, 1), first.type) as (place, _count):
            member = builder.zext(builder.load(builder.gep(of_members.data, [place])), at_row.type)
            centre = builder.load(lanes(of_centres, member), align=8)
            more = builder.fsub(square, builder.fmul(twice, centre))
            builder.store(builder.fadd(builder.load(total), more), total)
        builder.store(builder.load(total), lanes(of_apart, at_row), align=8)
        return context.get_dummy_value()

    return types.void(members, centres, apart, where, held, share), generate


def _everywhere(builder: Any, number: Any) -> Any:
    """The same number in every lane."""
    whole = ir.Constant(VECTOR, ir.Undefined)
    for lane in range(LANES):
        whole = builder.insert_element(whole, number, ir.Constant(ir.IntType(32), lane))
    return whole


_add_up: Any = import_module("numba.extending").intrinsic(_one_record)
_add_set: Any = import_module("numba.extending").intrinsic(_one_set)


@njit(cache=True, nogil=True)
def look_up(ground: Ground, centres: Floats, codes: Floats) -> None:
    """Fill `codes` (codes, lanes) with the squared distances of each code from `centres` (coordinates, lanes)."""
    for a in range(len(ground.wide) - 1):
        near = centres[ground.columns[ground.wide[a] : ground.wide[a + 1]]]  # side by side, whatever stands between
        at = ground.start[a]
        for code in range(ground.first[a], ground.first[a + 1]):
            places = ground.places[at : at + len(near)]
            if near.shape[1] == 1:
                codes[code, 0] = _apart_from_one(places, near)
            else:
                _apart(places, near, codes[code])
            at += len(near)


@njit(cache=True, nogil=True, inline="always")
def _apart_from_one(places: Floats, centre: Floats) -> float:
    """The squared distance of one code from one centre."""
    found = 0.0
    for d in range(len(places)):
        gap = places[d] - centre[d, 0]
        found += gap * gap
    return found


@njit(cache=True, nogil=True, inline="always")
def _apart(places: Floats, centres: Floats, found: Floats) -> None:
    """The squared distances of one code from all centres, in whole lanes, whose number the compiler knows."""
    for stack in range(0, len(found), LANES):
        for lane in range(LANES):
            found[stack + lane] = 0.0
        for d in range(len(places)):
            for lane in range(LANES):
                gap = places[d] - centres[d, stack + lane]
                found[stack + lane] += gap * gap


@njit(cache=True, nogil=True)
def add_codes(first: NDArray[np.uint64], codes: Codes, looked: Floats, base: Floats, apart: Floats) -> None:
    """Fill `apart` (rows, stacks, lanes) with `base` (stacks, lanes) and what each record's codes have in `looked`
    (codes, stacks, lanes)."""
    for stack in range(len(base)):
        for i in range(len(codes)):
            _add_up(first, codes, looked, base, apart, (i, stack))


@njit(cache=True, nogil=True)
def add_codes_of_one(first: NDArray[np.uint64], codes: Codes, looked: Floats, apart: Floats) -> None:
    """The same from one centre: add what each record's codes have in `looked` (codes,) to `apart` (rows,)."""
    for i in range(len(codes)):
        total = 0.0
        for a in range(codes.shape[1]):
            total += looked[first[a] + np.uint64(codes[i, a])]
        apart[i] += total


@njit(cache=True, nogil=True)
def add_numbers(numbers: NDArray[np.float32], centres: Floats, apart: Floats) -> None:
    """Add the squared distances of numbers from those of `centres` (numbers, lanes) to `apart` (rows, lanes)."""
    for i in range(len(numbers)):
        for a in range(numbers.shape[1]):
            x = np.float64(numbers[i, a])
            for lane in range(apart.shape[1]):
                gap = x - centres[a, lane]
                apart[i, lane] += gap * gap


@njit(cache=True, nogil=True)
def add_sets(ground: Ground, sets: NDArray[np.uint32], centres: Floats, apart: Floats) -> None:
    """The same of sets, `apart` (rows, stacks, lanes): the square of each, less twice its share of every coordinate of
    `centres` (coordinates, stacks, lanes).

    The squares of the centres themselves are in the base.
    """
    for i in range(len(sets)):
        for a in range(sets.shape[1]):
            held = np.int64(sets[i, a])
            share = ground.share[held]
            members = (ground.ends[held], ground.ends[held + 1])
            for stack in range(apart.shape[1]):
                _add_set(ground.members, centres, apart, (i, stack), members, (share * share, 2.0 * share))


@njit(cache=True, nogil=True)
def add_sets_of_one(ground: Ground, sets: NDArray[np.uint32], centre: Floats, apart: Floats) -> None:
    """The same from one centre (coordinates,): `apart` (rows,)."""
    for i in range(len(sets)):
        total = apart[i]
        for a in range(sets.shape[1]):
            held = np.int64(sets[i, a])
            share = ground.share[held]
            square, twice = share * share, 2.0 * share
            for m in range(ground.ends[held], ground.ends[held + 1]):
                total += square - twice * centre[ground.members[m]]
        apart[i] = total


@njit(cache=True, nogil=True)
def choose(apart: Floats, labels: Labels, far: Floats) -> None:
    """The nearest centre of each record by `apart` (rows, stacks, lanes), the first on a tie; the distance from it is
    written into `far` (rows,), if that has room."""
    for i in range(len(labels)):
        least, label = np.inf, 0
        for stack in range(apart.shape[1]):
            for lane in range(LANES):  # a number that the compiler knows, so that it spells the loop out
                if apart[i, stack, lane] < least:
                    least, label = apart[i, stack, lane], LANES * stack + lane
        labels[i] = label
        if len(far) > 0:
            far[i] = max(least, 0.0)


@njit(cache=True, nogil=True)
def gather(apart: Floats, weights: Floats, far: Floats, spent: Floats) -> None:
    """How far records would be from the nearest centre, if that of each lane were one more, is added to `spent`
    (lanes,) by weight. `far` (rows,): how far they are now."""
    for i in range(len(far)):
        weight = weights[i] if len(weights) > 0 else 1.0
        for lane in range(len(spent)):
            spent[lane] += weight * max(min(far[i], apart[i, lane]), 0.0)


@njit(cache=True, nogil=True)
def count_codes(ground: Ground, rows: Rows, before: Labels, after: Labels, counts: Counts) -> None:
    """Move records from the clusters of `before` to those of `after`; those that stay are not looked at."""
    for i in range(len(after)):
        old, new = before[i], after[i]
        if old == new:
            continue
        weight = rows.weights[i] if len(rows.weights) > 0 else 1.0
        counts.sizes[new] += weight
        if old != NOBODYS:
            counts.sizes[old] -= weight
        for a in range(rows.codes.shape[1]):
            at = ground.first[a] + np.uint64(rows.codes[i, a])
            counts.codes[at, new] += weight
            if old != NOBODYS:
                counts.codes[at, old] -= weight


@njit(cache=True, nogil=True)
def count_rest(ground: Ground, rows: Rows, labels: Labels, counts: Counts) -> None:
    """Add up numbers and sets by cluster."""
    for i in range(len(labels)):
        weight = rows.weights[i] if len(rows.weights) > 0 else 1.0
        for a in range(rows.numbers.shape[1]):
            counts.numbers[a, labels[i]] += weight * rows.numbers[i, a]
        for a in range(rows.sets.shape[1]):
            held = np.int64(rows.sets[i, a])
            label, more = labels[i], weight * ground.share[held]
            for m in range(ground.ends[held], ground.ends[held + 1]):
                counts.members[ground.members[m], label] += more


@njit(cache=True, nogil=True)
def add_places(ground: Ground, codes: Floats, sums: Floats) -> None:
    """Add up the places of each cluster's codes to `sums` (coordinates, clusters); `codes` (codes, clusters): how many
    records hold each."""
    clusters = sums.shape[1]
    lanes = -(-clusters // LANES) * LANES
    held = np.zeros(lanes)  # of one code, in whole lanes
    for a in range(len(ground.wide) - 1):
        columns, at = ground.columns[ground.wide[a] : ground.wide[a + 1]], ground.start[a]
        near = np.zeros((len(columns), lanes))
        for d in range(len(columns)):
            near[d, :clusters] = sums[columns[d]]
        for code in range(ground.first[a], ground.first[a + 1]):
            for cluster in range(clusters):
                held[cluster] = codes[code, cluster]
            _add_up_places(ground.places[at : at + len(near)], held, near)
            at += len(near)
        for d in range(len(columns)):
            sums[columns[d]] = near[d, :clusters]


@njit(cache=True, nogil=True, inline="always")
def _add_up_places(places: Floats, held: Floats, near: Floats) -> None:
    """Add the places of one code to `near` (coordinates, lanes), so often as each lane holds it."""
    for d in range(len(places)):
        if places[d] != 0.0:
            for stack in range(0, len(held), LANES):
                for lane in range(LANES):
                    near[d, stack + lane] += held[stack + lane] * places[d]
