"""Compiled loops of Mondrian: the best cut of every region of a level. Their slow twin is `tests/mondrian_twin.py`.

A region is counted once for all attributes. Only positions that somebody has are looked at, and emptied again, so that
a small region costs little however many positions an attribute has.
"""

from __future__ import annotations

from numba import njit

from sfumato.arrays import Floats, Ints, Marks
from sfumato.maskers.mondrian.problem import NUMBER, TREE, Cuts, Level, Problem, Rows, Trees, Ways, Work
from sfumato.maskers.mondrian.worth import ZERO, evenness, gain, put_in_order

FEW = 8
"""Held positions are sorted where fewer than one in so many is held, else all positions are walked through."""


@njit(cache=True, nogil=True)
def best_cuts(problem: Problem, order: Rows, level: Level, allowed: Marks, cuts: Cuts, work: Work) -> None:
    """Fill `cuts` with the best cut of each region, the first of equal ones; put its rows in the order of the parts.

    `allowed` (ways,): which of all ways keep the requirements beside the least number of records, in the order of
    `count_ways`; of no length if all do.
    """
    tried = 0
    for r in range(len(level.lo)):
        n, best, worth = level.hi[r] - level.lo[r], ZERO - 1, 0.0
        _tally(problem, order, level.lo[r], level.hi[r], work)
        for a in range(len(problem.cells.kind)):
            ways = _line_up(problem, level.extents[r], a, n, work)
            if ways == 0:
                continue
            way, value = _best_way(
                problem, level.extents[r], a, n, ways=ways, allowed=allowed[tried : tried + ways], work=work
            )
            tried += ways
            if way < 0:
                continue
            if not problem.aim.gain:  # the widest attribute
                value = _width(problem, level.extents[r], a)
            if best < 0 or value > worth:
                best, worth = a, value
                _send(problem, a, way, work)
        cuts.attribute[r], cuts.first[r + 1] = best, cuts.first[r]
        if best >= 0:
            _tell(problem, level.extents[r], best, r, cuts, work)
            _divide(problem, order, level.lo[r], level.hi[r], best, ends=cuts.ends[r], work=work)
        _clear(problem, work)


@njit(cache=True, nogil=True)
def count_ways(
    problem: Problem, order: Rows, level: Level, codes: Rows, by: Ints, ways: Ways, work: Work
) -> tuple[int, int]:
    """Fill `ways` with every way to cut each region whose parts have enough records; how many ways, and how many parts.

    `codes` (rows,): the sensitive column; `by` (positions, values): scratch, 0 before and after.
    """
    cells = problem.cells
    made, parts = 0, 0
    for r in range(len(level.lo)):
        _tally(problem, order, level.lo[r], level.hi[r], work)
        for i in range(level.lo[r], level.hi[r]):
            for a in range(len(cells.kind)):
                by[cells.first[a] + cells.places[order[i], a], codes[order[i]]] += 1
        for a in range(len(cells.kind)):
            found = _line_up(problem, level.extents[r], a, level.hi[r] - level.lo[r], work)
            children = _children(problem, level.extents[r], a)
            for part in range(found * children):
                ways.way[parts + part] = made + part // children
            _count_parts(problem, a, found, by, ways.counts[parts : parts + found * children], work)
            made, parts = made + found, parts + found * children
        for a in range(len(cells.kind)):
            for i in range(cells.first[a], cells.first[a] + work.holds[a]):
                by[work.held[i]] = 0
        _clear(problem, work)
    return made, parts


@njit(cache=True, nogil=True)
def _count_parts(problem: Problem, a: int, ways: int, by: Ints, counts: Ints, work: Work) -> None:
    """The sensitive values of the parts of each way, the first of two from those of the way before."""
    values, sent = by.shape[1], 0
    counts[:] = 0
    if problem.cells.kind[a] == TREE:
        for i in range(work.holds[a] if ways else 0):
            for v in range(values):
                counts[work.part[i], v] += by[work.line[i], v]
        return
    for way in range(ways):
        for v in range(values if way else 0):
            counts[2 * way, v] = counts[2 * way - 2, v]
        for i in range(sent, work.bounds[way]):
            for v in range(values):
                counts[2 * way, v] += by[work.line[i], v]
        sent = work.bounds[way]
    for i in range(work.holds[a] if ways else 0):  # the last line is that of all
        for v in range(values):
            counts[2 * ways - 1, v] += by[work.line[i], v]
    for way in range(ways):
        for v in range(values):
            counts[2 * way + 1, v] = counts[2 * ways - 1, v] - counts[2 * way, v]


@njit(cache=True, nogil=True)
def fill_level(problem: Problem, order: Rows, level: Level, cuts: Cuts, below: Level, leaves: Ints) -> None:
    """Fill `below` with the parts that have records, in the order of the regions, and the rows of regions that are cut
    no further in `leaves` with the numbers of their nodes."""
    made = 0
    for r in range(len(level.lo)):
        a, start = cuts.attribute[r], level.lo[r]
        for i in range(start, level.hi[r] if a < 0 else start):
            leaves[order[i]] = level.node[r]
        for part in range(_children(problem, level.extents[r], a) if a >= 0 else 0):
            end = level.lo[r] + cuts.ends[r, part]
            if end > start:
                below.lo[made], below.hi[made] = start, end
                for b in range(level.extents.shape[1]):
                    below.extents[made, b, 0] = level.extents[r, b, 0]
                    below.extents[made, b, 1] = level.extents[r, b, 1]
                _narrow(problem, a, part, cuts.where[cuts.first[r] : cuts.first[r + 1]], below.extents[made, a])
                made += 1
            start = end


@njit(cache=True, nogil=True)
def _narrow(problem: Problem, a: int, part: int, where: Ints, extent: Ints) -> None:
    """What a part has of the attribute that was cut."""
    kind = problem.cells.kind[a]
    if kind == TREE:
        extent[0] = problem.trees.child[problem.trees.first[extent[0]] + part]
    elif kind == NUMBER:
        extent[1 - part] = where[0]
    else:
        extent[1] = len(where) if part else extent[1] - len(where)


@njit(cache=True, nogil=True)
def _tally(problem: Problem, order: Rows, lo: int, hi: int, work: Work) -> None:
    """Count a region by position and class, and list the positions that somebody has, in order."""
    first, places, codes = problem.cells.first, problem.cells.places, problem.aim.codes
    total, counts = work.total, work.counts
    many = hi - lo >= len(total)  # then most positions are held: they are listed afterwards
    for c in range(len(work.every)):
        work.every[c] = 0
    for i in range(lo, hi):
        row, c = order[i], codes[order[i]]
        work.every[c] += 1
        for a in range(places.shape[1]):
            p = first[a] + places[row, a]
            counts[p, c] += 1
            if many:
                continue
            if total[p] == 0:
                work.held[first[a] + work.holds[a]] = p
                work.holds[a] += 1
            total[p] += 1
    for p in range(len(total) if many else 0):
        for c in range(counts.shape[1]):
            total[p] += counts[p, c]
    for a in range(places.shape[1]):
        here = work.held[first[a] : first[a + 1]]
        work.holds[a] = _list_held(first[a], 0 if many else work.holds[a], total, here, work.key)


@njit(cache=True, nogil=True)
def _list_held(first: int, listed: int, total: Ints, held: Ints, key: Floats) -> int:
    """Put the held positions of an attribute in order, or list them if none is `listed`; how many there are."""
    if 0 < FEW * listed < len(held):
        for i in range(listed):
            key[i] = held[i]
        put_in_order(held[:listed], key[:listed])
        return listed
    made = 0
    for p in range(first, first + len(held)):
        if total[p] > 0:
            held[made] = p
            made += 1
    return made


@njit(cache=True, nogil=True)
def _clear(problem: Problem, work: Work) -> None:
    """Leave `total` and `counts` empty behind."""
    first, total, counts = problem.cells.first, work.total, work.counts
    for a in range(len(work.holds)):
        for i in range(first[a], first[a] + work.holds[a]):
            p = work.held[i]
            total[p] = 0
            for c in range(counts.shape[1]):
                counts[p, c] = 0
        work.holds[a] = 0


@njit(cache=True, nogil=True)
def _line_up(problem: Problem, extent: Ints, a: int, n: int, work: Work) -> int:
    """Put the held positions of an attribute in line; in how many ways it can be cut so that parts have enough records.

    Numbers ascend, and are cut where there is a number between two that is nobody's own; before that missing ones are
    set apart. Labels stand by their share of the main class, or as they are. A node is cut into all its children.
    """
    first, holds, least, kind = problem.cells.first[a], work.holds[a], problem.least, problem.cells.kind[a]
    line, total, up_to = work.line, work.total, problem.cells.up_to
    for i in range(holds):
        line[i] = work.held[first + i]
    if kind == TREE:
        return _line_up_tree(
            problem.trees, extent[a, 0], first, line=line[:holds], total=total, least=least, part=work.part
        )
    if kind == NUMBER:
        numbers = problem.cells.numbers[a]
        if extent[a, 0] == numbers:
            return 0
        if extent[a, 1] > numbers:
            lost = total[first + numbers]
            work.bounds[0] = holds - (1 if lost > 0 else 0)
            return 1 if _enough(least, lost) and _enough(least, n - lost) else 0
    elif problem.aim.gain:
        main = _main(work.every)
        for i in range(holds):
            work.key[i] = work.counts[line[i], main] / total[line[i]]
        put_in_order(line[:holds], work.key[:holds])
    made, below = 0, 0
    for i in range(1, holds):
        below += total[line[i - 1]]
        if n - below < least:
            break
        if below >= least and (kind != NUMBER or up_to[line[i]] > up_to[line[i - 1]]):
            work.bounds[made] = i
            made += 1
    return made


@njit(cache=True, nogil=True)
def _main(every: Ints) -> int:
    """The class that most records have, the first of equal ones."""
    found = 0
    for c in range(len(every)):
        if every[c] > every[found]:
            found = c
    return found


@njit(cache=True, nogil=True)
def _enough(least: int, size: int) -> bool:
    return size == 0 or size >= least


@njit(cache=True, nogil=True)
def _line_up_tree(trees: Trees, node: int, first: int, line: Ints, total: Ints, least: int, part: Ints) -> int:
    """Which child each held position goes to; the only way, if every child has enough records."""
    child, size = trees.first[node], ZERO
    if child == trees.first[node + 1]:
        return 0
    for i in range(len(line)):
        while line[i] - first >= trees.hi[trees.child[child]]:
            if not _enough(least, size):
                return 0
            child, size = child + 1, ZERO
        part[i] = child - trees.first[node]
        size += total[line[i]]
    return 1 if _enough(least, size) else 0


@njit(cache=True, nogil=True)
def _children(problem: Problem, extent: Ints, a: int) -> int:
    """Into how many parts an attribute is cut."""
    if problem.cells.kind[a] != TREE:
        return 2
    node = extent[a, 0]
    return int(problem.trees.first[node + 1] - problem.trees.first[node])


@njit(cache=True, nogil=True)
def _width(problem: Problem, extent: Ints, a: int) -> float:
    """Which share of the axis a region has."""
    cells, kind = problem.cells, problem.cells.kind[a]
    size = cells.first[a + 1] - cells.first[a]
    if kind == TREE:
        node = extent[a, 0]
        return float((problem.trees.hi[node] - problem.trees.lo[node]) / size)
    return float((extent[a, 1] - extent[a, 0]) / size)


@njit(cache=True, nogil=True)
def _best_way(
    problem: Problem, extent: Ints, a: int, n: int, ways: int, allowed: Marks, work: Work
) -> tuple[int, float]:
    """The first of the best allowed ways to cut an attribute, -1 if there is none; and what it is worth."""
    tree, parts, classes = problem.cells.kind[a] == TREE, _children(problem, extent, a), problem.aim.n
    line, run, counts = work.line, work.run, work.counts
    for part in range(parts):
        for c in range(classes):
            run[part, c] = work.every[c] if part == 1 and not tree else 0
    best, most, sent = -1, 0.0, 0
    for way in range(ways):
        sends = work.holds[a] if tree else work.bounds[way]
        for i in range(sent, sends):
            to = work.part[i] if tree else 0
            for c in range(classes):
                run[to, c] += counts[line[i], c]
                if not tree:
                    run[1, c] -= counts[line[i], c]
        sent = sends
        if len(allowed) and not allowed[way]:
            continue
        worth = (
            gain(problem.aim.bits, work.every, run[:parts], n, work.mixed)
            if problem.aim.gain
            else evenness(run[:parts])
        )
        if best < 0 or worth > most:
            best, most = way, worth
    return best, most


@njit(cache=True, nogil=True)
def _send(problem: Problem, a: int, way: int, work: Work) -> None:
    """Note which part each held position goes to."""
    tree = problem.cells.kind[a] == TREE
    for i in range(work.holds[a]):
        work.goes[work.line[i]] = work.part[i] if tree else 1 if i >= work.bounds[way] else 0


@njit(cache=True, nogil=True)
def _tell(problem: Problem, extent: Ints, a: int, r: int, cuts: Cuts, work: Work) -> None:
    """Where the chosen attribute is cut, as `Cuts` has it."""
    first, at = problem.cells.first[a], cuts.first[r]
    if problem.cells.kind[a] == NUMBER:
        begins, last, mixed = problem.cells.numbers[a], 0, extent[a, 1] > problem.cells.numbers[a]
        for i in range(first, first + work.holds[a]):
            if work.goes[work.held[i]] == 0:
                last = work.held[i] - first
            elif not mixed:
                begins = work.held[i] - first
                break
        cuts.where[at], cuts.where[at + 1] = begins, last
        cuts.first[r + 1] = at + 2
    elif problem.cells.kind[a] != TREE:
        for i in range(first, first + work.holds[a]):
            if work.goes[work.held[i]] == 1:
                cuts.where[at] = work.held[i] - first
                at += 1
        cuts.first[r + 1] = at


@njit(cache=True, nogil=True)
def _divide(problem: Problem, order: Rows, lo: int, hi: int, a: int, ends: Ints, work: Work) -> None:
    """Put the rows of a region in the order of the parts, and tell where each part ends."""
    cells = problem.cells
    ends[:] = 0
    for i in range(cells.first[a], cells.first[a] + work.holds[a]):
        ends[work.goes[work.held[i]]] += work.total[work.held[i]]
    total = 0
    for part in range(len(ends)):
        work.place[part] = lo + total
        total += ends[part]
        ends[part] = total
    for i in range(lo, hi):
        part = work.goes[cells.first[a] + cells.places[order[i], a]]
        work.spare[work.place[part]] = order[i]
        work.place[part] += 1
    for i in range(lo, hi):
        order[i] = work.spare[i]
