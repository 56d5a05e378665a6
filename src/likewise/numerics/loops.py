"""The small loops of the log-det projections, compiled by numba where it is installed.

Each loop walks through one block of constraints on the block's small Gram matrix (see
logdet_sweeps.py for the mathematics). The Python source is its own reference: `f.py_func` is what
runs without numba, on whole rows; `f` compiles the same lines, and only the row operations
at the top are written a second time, entry by entry, for the compiler.
"""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

HINGE, SQUARED_HINGE, LOG_DET, PAPER = range(4)

SMALLEST_SQ_DIST = 1e-300  # below it 1 / sq_dist overflows: the difference is zero
SMALLEST_AREA = 1e-14  # of p q: three images on one line carry no rank-two step
ROOT_STEPS = 100  # safeguarded Newton halves the bracket at worst: 100 exhausts a float64


class CompiledLoop:
    """A loop that numba compiles when it is first called; importing numba takes half a second.

    Parameters
    ----------
    function : callable
        The Python source, kept as `py_func`; it runs as it stands without the extra "fast".
    """

    def __init__(self, function: Callable):
        self.py_func = function
        self._compiled: Callable | None = None

    def __call__(self, *arguments):
        if self._compiled is None:
            self._compiled = compiled(self.py_func) if has_numba() else self.py_func
        return self._compiled(*arguments)


def has_numba() -> bool:
    """Whether the extra "fast" is installed; nothing is imported."""
    try:
        return find_spec("numba") is not None
    except ValueError:  # what stands in its place is no module
        return False


def compiled(function: Callable) -> Callable:
    """The function by numba, with what it calls."""
    import numba
    from numba.extending import overload, register_jitable

    if not _KNOWN_TO_NUMBA:
        overload(catch_up)(lambda gram, shares, first, last: catch_up_by_entries)
        overload(steer)(lambda gram, shares, core, first: steer_by_entries)
        for called in (next_pair_dual, squared_hinge_triple_step, next_triple_dual):
            register_jitable(called)
        _KNOWN_TO_NUMBA.append(True)
    try:
        return numba.njit(cache=True)(function)
    except RuntimeError:  # no folder that numba may write its cache to
        return numba.njit(function)


_KNOWN_TO_NUMBA: list[bool] = []


def catch_up(gram, shares, first, last):
    """Bring gram[first:last] up to date with the steps of the rows before it.

    gram[i, j] = v_i' M v_j. Row 0 made the step M - (Mv)(Mv)' / 4, of which `steer` noted row 1's
    share: core times gram[0, 1] = -1/2. So v_1' M v_1 = 5 becomes 5 - 2^2 / 4 = 4.

    >>> gram, shares = np.array([[4.0, 2.0], [2.0, 5.0]]), np.array([[0.0, 0.0], [-0.5, 0.0]])
    >>> catch_up(gram, shares, 1, 2)
    >>> gram[1]
    array([0., 4.])
    """
    for i in range(first, last):
        gram[i] += shares[i, :first].dot(gram[:first])  # .dot: half the overhead of @


def catch_up_by_entries(gram, shares, first, last):
    # Columns before `first` are never read again.
    for i in range(first, last):
        for j in range(first):
            share = shares[i, j]
            if share != 0.0:
                for column in range(first, gram.shape[0]):
                    gram[i, column] += share * gram[j, column]


def steer(gram, shares, core, first):
    """Note the share that the step of rows first, first + 1, ... has in each row after them.

    `core` is what M gains between them: a pair's is 1 by 1, M + core (Mv)(Mv)'; a triple's 2 by 2.

    >>> gram, shares = np.array([[4.0, 2.0], [2.0, 5.0]]), np.zeros((2, 2))
    >>> steer(gram, shares, np.array([[-0.25]]), 0)
    >>> shares[1]  # core times gram[0, 1]; `catch_up` adds so much of row 0 to row 1
    array([-0.5,  0. ])
    """
    last = first + len(core)
    shares[last:, first:last] = core.dot(gram[first:last, last:]).T


def steer_by_entries(gram, shares, core, first):
    last = first + len(core)
    for row in range(last, gram.shape[0]):
        for i in range(len(core)):
            share = 0.0
            for j in range(len(core)):
                share += core[i, j] * gram[first + j, row]
            shares[row, first + i] = share


def next_pair_dual(loss, dual, sign, sq_dist, sq_target, strength):
    """The dual that puts one pair where its loss wants it, all other duals held."""
    unbounded = dual + sign * (1.0 / sq_target - 1.0 / sq_dist)
    if loss == PAPER:
        return max(dual, unbounded)
    if loss == LOG_DET:
        return max(0.0, unbounded / (1.0 + 1.0 / strength))
    if loss == HINGE:
        return min(max(0.0, unbounded), strength)
    # Squared hinge: x = sign * dual solves (rest + x) (sq_target + x / strength) = 1, the
    # new 1 / sq_dist times the new sq_dist; the larger root keeps both factors positive.
    rest = 1.0 / sq_dist - sign * dual
    middle = sq_target + rest / strength
    root = np.sqrt((sq_target - rest / strength) ** 2 + 4.0 / strength)
    if middle > 0.0:
        x = 2.0 * (1.0 - rest * sq_target) / (middle + root)
    else:
        x = 0.5 * strength * (root - middle)
    return max(0.0, sign * x)


def squared_hinge_triple_step(dual, total, product, strength):
    """Root of total'(a) = (dual + a) / strength, between -dual and the exact projection.

    total and product are the sum and the product of the two nonzero eigenvalues of M C;
    total'(a) = (total + 2 a product) / (1 + a total + a² product) is tr(M C) after a step a.
    """
    exact = -0.5 * total / product
    width = np.sqrt(total * total - 4.0 * product)
    low = max(min(-dual, exact), 0.5 * (width - total) / product)  # inside: M stays definite
    high = min(max(-dual, exact), -0.5 * (width + total) / product)
    a = exact
    for _ in range(ROOT_STEPS):
        room = 1.0 + a * total + a * a * product
        violation = (total + 2.0 * a * product) / room
        excess = violation - (dual + a) / strength
        if excess > 0.0:
            low = a
        else:
            high = a
        newton = a + excess / (violation**2 - 2.0 * product / room + 1.0 / strength)
        moved = newton if low < newton < high else 0.5 * (low + high)
        if abs(moved - a) <= 1e-16 * (abs(moved) + abs(a)):
            break
        a = moved
    return a


def next_triple_dual(loss, dual, p, q, area, ratio, strength, is_equality, ignore_below):
    """The dual that puts ratio * d(i, j) <= d(i, k), or = , where its loss wants it."""
    total = ratio * p - q
    product = -ratio * area
    if loss == PAPER:
        violation = abs(total) if is_equality else total
        return dual - 0.5 * total / product if violation > ignore_below * q else dual
    if loss == SQUARED_HINGE and strength < np.inf:
        unbounded = dual + squared_hinge_triple_step(dual, total, product, strength)
        return unbounded if is_equality else max(0.0, unbounded)
    lowest = -strength if is_equality else 0.0
    highest = np.inf if loss == SQUARED_HINGE else strength
    return min(max(lowest, dual - 0.5 * total / product), highest)


@CompiledLoop
def visit_pairs(gram, shares, cores, duals, sign, sq_targets, strengths, loss, ignore_below):
    """Project onto the pairs of a block in turn; returns the largest relative move."""
    largest_move = 0.0
    for c in range(len(duals)):
        catch_up(gram, shares, c, c + 1)
        p = gram[c, c]
        if not p > SMALLEST_SQ_DIST:
            continue
        dual = next_pair_dual(loss, duals[c], sign[c], p, sq_targets[c], strengths[c])
        if loss == PAPER and sign[c] * (p - sq_targets[c]) <= ignore_below * sq_targets[c]:
            continue
        step = sign[c] * (dual - duals[c])
        if step == 0.0:
            continue
        cores[c, 0, 0] = -step / (1.0 + step * p)  # Sherman-Morrison
        steer(gram, shares, cores[c], c)
        duals[c] = dual
        give = 1.0 + 1.0 / strengths[c] if loss == LOG_DET else 1.0  # the target moved too
        largest_move = max(largest_move, abs(step) * p * give)
    return largest_move


@CompiledLoop
def visit_triples(gram, shares, cores, duals, ratios, is_equality, strengths, loss, ignore_below):
    """Project onto the triples of a block in turn: rows 2c and 2c + 1 are u and w of triple c."""
    largest_move = 0.0
    for c in range(len(duals)):
        i, j = 2 * c, 2 * c + 1
        catch_up(gram, shares, i, j + 1)
        p, x, q = gram[i, i], gram[i, j], gram[j, j]
        area = p * q - x * x
        if not area > SMALLEST_AREA * p * q or p * q <= SMALLEST_SQ_DIST:
            continue
        ratio = ratios[c]
        dual = next_triple_dual(
            loss, duals[c], p, q, area, ratio, strengths[c], is_equality[c], ignore_below
        )
        a = dual - duals[c]
        if a == 0.0:
            continue
        room = 1.0 + a * (ratio * p - q) - a * a * ratio * area
        cores[c, 0, 0] = a * ratio * (a * q - 1.0) / room  # Woodbury, for a (ratio uu' - ww')
        cores[c, 0, 1] = cores[c, 1, 0] = -a * a * ratio * x / room
        cores[c, 1, 1] = a * (1.0 + a * ratio * p) / room
        steer(gram, shares, cores[c], i)
        duals[c] = dual
        largest_move = max(largest_move, abs(a) * max(ratio * p, q))
    return largest_move
