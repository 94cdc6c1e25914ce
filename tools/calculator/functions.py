"""What can be done with numbers. Every number is an exact fraction; one that had to be rounded says so."""

import difflib
import functools
import math
from decimal import ROUND_HALF_EVEN, Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow, Underflow
from fractions import Fraction
from typing import NamedTuple

# About 3,900 decimal digits: within what Python turns into text, and each step on such numbers takes microseconds.
BITS_MAX = 13_000
FACTORIAL_MAX = 1_000
ROOT_MAX = 1_000
# Beyond this a sine would need more digits of pi than are worth having.
ANGLE_MAX = 10**20
PRECISION = 80
# Smaller than this a sine or cosine of an ordinary angle is a zero that rounding has blurred.
NOISE = Fraction(1, 10**60)

CONTEXT = Context(
    prec=PRECISION,
    rounding=ROUND_HALF_EVEN,
    Emax=20_000,
    Emin=-20_000,
    traps=[DivisionByZero, InvalidOperation, Overflow, Underflow],
)


class Refusal(Exception):
    """What is wrong with the question, in words for whoever asked it."""


class Number(NamedTuple):
    value: Fraction
    exact: bool


def bounded(value):
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > BITS_MAX:
        raise Refusal("The result, or a number on the way to it, has more than about 3,900 digits.")
    return value


def combine(operation):
    def combined(a, b):
        value = bounded(operation(a.value, b.value))
        # Digits beyond the precision of what was rounded before mean nothing, and would grow with every step.
        return Number(value, True) if a.exact and b.exact else rounded(lambda: decimal(Number(value, False)))

    return combined


def divide(a, b):
    if b.value == 0:
        raise Refusal("Division by zero.")
    return combine(lambda x, y: x / y)(a, b)


def divide_whole(a, b):
    if b.value == 0:
        raise Refusal("Division by zero.")
    return combine(lambda x, y: Fraction(x // y))(a, b)


def modulo(a, b):
    if b.value == 0:
        raise Refusal("Division by zero.")
    return combine(lambda x, y: x % y)(a, b)


OPERATORS = {
    "+": combine(lambda x, y: x + y),
    "-": combine(lambda x, y: x - y),
    "*": combine(lambda x, y: x * y),
    "/": divide,
    "//": divide_whole,
    "mod": modulo,
}


def power(base, exponent):
    if base.value == 0 and exponent.value < 0:
        raise Refusal("Division by zero: zero has no negative power.")
    if exponent.value.denominator == 1:
        return whole_power(base, exponent)
    if base.value < 0:
        raise Refusal("A negative number has no real power that is not whole; for odd roots use root(x, n).")
    if base.value == 0:
        return Number(Fraction(0), base.exact and exponent.exact)
    root_exact = exact_root(base.value, exponent.value.denominator)
    if base.exact and exponent.exact and root_exact is not None:
        return whole_power(Number(root_exact, True), Number(Fraction(exponent.value.numerator), True))
    return rounded(lambda: CONTEXT.power(decimal(base), decimal(exponent)))


def whole_power(base, exponent):
    times = exponent.value.numerator
    bits = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
    # Before the power is taken, because 9^9^9 would not come back. 0, 1 and -1 stay as small as they are.
    if abs(base.value) not in (0, 1) and (bits - 1) * abs(times) > BITS_MAX:
        raise Refusal("The power has more than about 3,900 digits.")
    if abs(base.value) == 1:
        times %= 2
    value = bounded(base.value**times)
    return Number(value, True) if base.exact and exponent.exact else rounded(lambda: decimal(Number(value, False)))


def exact_root(value, degree):
    """The root as a fraction, or None where there is none."""
    if degree > ROOT_MAX or value < 0:
        return None
    top, bottom = whole_root(value.numerator, degree), whole_root(value.denominator, degree)
    return None if top is None or bottom is None else Fraction(top, bottom)


def whole_root(value, degree):
    if degree == 2:
        found = math.isqrt(value)
    else:
        low, high = 0, 1 << (value.bit_length() // degree + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
        found = low
    return found if found**degree == value else None


def root(x, degree):
    n = whole(degree, "the degree of a root")
    if not 1 <= n <= ROOT_MAX:
        raise Refusal(f"The degree of a root is a whole number from 1 to {ROOT_MAX}.")
    if x.value < 0:
        if n % 2 == 0:
            raise Refusal("A negative number has no real even root.")
        positive = root(Number(-x.value, x.exact), degree)
        return Number(-positive.value, positive.exact)
    return power(x, Number(Fraction(1, n), degree.exact))


def factorial(x):
    n = whole(x, "what a factorial is taken of")
    if not 0 <= n <= FACTORIAL_MAX:
        raise Refusal(f"Factorials are worked out from 0 to {FACTORIAL_MAX}.")
    return Number(Fraction(math.factorial(n)), x.exact)


def whole(x, what):
    if x.value.denominator != 1:
        raise Refusal(f"A whole number is needed for {what}.")
    return x.value.numerator


def decimal(x):
    return CONTEXT.divide(Decimal(x.value.numerator), Decimal(x.value.denominator))


def rounded(operation):
    """For what has no exact fraction."""
    try:
        return Number(bounded(Fraction(operation())), False)
    except Overflow:
        raise Refusal("The result is too large.") from None
    except Underflow:
        raise Refusal("The result is too close to zero.") from None
    except DecimalException:
        raise Refusal("There is no such real number.") from None


def natural_log(x):
    if x.value <= 0:
        raise Refusal("A logarithm needs a number above zero.")
    return Number(Fraction(0), x.exact) if x.value == 1 else rounded(lambda: CONTEXT.ln(decimal(x)))


def log(x, base):
    if base.value <= 0 or base.value == 1:
        raise Refusal("The base of a logarithm is above zero and not 1.")
    ratio = rounded(lambda: CONTEXT.divide(decimal(natural_log(x)), decimal(natural_log(base))))
    # log(1000, 10) is 3, not 2.999…: a whole candidate is proven before it is believed.
    nearest = Number(Fraction(round(ratio.value)), True)
    if x.exact and base.exact and is_power(x, base, nearest):
        return nearest
    return ratio


def is_power(x, base, exponent):
    try:
        return whole_power(base, exponent).value == x.value
    except Refusal:
        return False


def exponential(x):
    return Number(Fraction(1), x.exact) if x.value == 0 else rounded(lambda: CONTEXT.exp(decimal(x)))


def arctangent(value):
    """Of a fraction, by Taylor's series after the argument is made small."""
    x, halvings = decimal(Number(value, True)), 0
    while abs(x) > Decimal("0.1"):
        x = CONTEXT.divide(x, CONTEXT.add(1, CONTEXT.sqrt(CONTEXT.add(1, CONTEXT.multiply(x, x)))))
        halvings += 1
    total, term, n, square = x, x, 1, CONTEXT.multiply(x, x)
    while abs(term) > Decimal(10) ** -(PRECISION + 5) and term != 0:
        term = CONTEXT.minus(CONTEXT.multiply(term, square))
        n += 2
        total = CONTEXT.add(total, CONTEXT.divide(term, n))
    return Fraction(total) * 2**halvings


def machin_pi():
    """On whole numbers, with 20 digits more than anything above needs for an angle of ANGLE_MAX."""
    unit = 10 ** (PRECISION + 40)

    def inverse_arctangent(n):
        total, term, k, sign = 0, unit // n, 1, 1
        while term:
            total, term, k, sign = total + sign * (term // k), term // (n * n), k + 2, -sign
        return total

    return Fraction(4 * (4 * inverse_arctangent(5) - inverse_arctangent(239)), unit)


PI = machin_pi()


def wave(x, quarter_turns):
    """The sine of x, that many quarters of a turn ahead."""
    if abs(x.value) > ANGLE_MAX:
        raise Refusal("Angles are worked out up to 1e20 radians.")
    if x.value == 0:
        return Number(Fraction((0, 1, 0, -1)[quarter_turns % 4]), x.exact)
    angle = (x.value + quarter_turns * PI / 2) % (2 * PI)
    if angle > PI:
        angle -= 2 * PI
    small = decimal(Number(angle, False))
    total, term, n, square = small, small, 1, CONTEXT.multiply(small, small)
    while abs(term) > Decimal(10) ** -(PRECISION + 5):
        term = CONTEXT.divide(CONTEXT.multiply(term, CONTEXT.minus(square)), (n + 1) * (n + 2))
        n += 2
        total = CONTEXT.add(total, term)
    found = Fraction(total)
    return Number(Fraction(0) if abs(found) < NOISE < abs(x.value) else found, False)


def tangent(x):
    below = wave(x, 1)
    if below.value == 0:
        raise Refusal("The tangent has no value at this angle.")
    above = wave(x, 0)
    return above if above.value == 0 else rounded(lambda: CONTEXT.divide(decimal(above), decimal(below)))


def arcsine(x):
    if abs(x.value) > 1:
        raise Refusal("asin and acos take a number from -1 to 1.")
    if x.value == 0:
        return x
    if abs(x.value) == 1:
        return Number(x.value * PI / 2, False)
    beside = CONTEXT.sqrt(decimal(Number(1 - x.value**2, False)))
    return Number(arctangent(Fraction(CONTEXT.divide(decimal(x), beside))), False)


def nearest_places(x, places):
    n = whole(places, "the places to round to")
    if abs(n) > 1_000:
        raise Refusal("Numbers are rounded to at most 1000 places.")
    scale = Fraction(10) ** n
    scaled = bounded(x.value * scale)
    # Halves away from zero, as people round.
    return Number(Fraction(int(abs(scaled) + Fraction(1, 2))) / scale * (-1 if scaled < 0 else 1), x.exact)


def fold(operation):
    return lambda *xs: Number(Fraction(operation(*(x.value for x in xs))), all(x.exact for x in xs))


def fold_whole(operation, what):
    """Step by step, so that no step can be larger than its result is allowed to be."""
    step = combine(lambda x, y: Fraction(operation(x.numerator, y.numerator)))

    def folded(*xs):
        for x in xs:
            whole(x, what)
        return functools.reduce(step, xs, Number(Fraction(operation(xs[0].value.numerator)), True))

    return folded


def total(*xs):
    return functools.reduce(OPERATORS["+"], xs)


def average(*xs):
    return divide(total(*xs), Number(Fraction(len(xs)), True))


def choose(n, k):
    above, below = whole(n, "choose"), whole(k, "choose")
    if not 0 <= below <= above <= BITS_MAX:
        raise Refusal("choose(n, k) takes whole numbers with 0 <= k <= n <= 13000.")
    return Number(bounded(Fraction(math.comb(above, below))), n.exact and k.exact)


MANY = 100
# Name: fewest arguments, most arguments, what it does.
FUNCTIONS = {
    "abs": (1, 1, fold(abs)),
    "floor": (1, 1, fold(math.floor)),
    "ceil": (1, 1, fold(math.ceil)),
    "trunc": (1, 1, fold(math.trunc)),
    "round": (1, 2, lambda x, places=Number(Fraction(0), True): nearest_places(x, places)),
    "min": (1, MANY, fold(lambda *xs: min(xs))),
    "max": (1, MANY, fold(lambda *xs: max(xs))),
    "sum": (1, MANY, total),
    "avg": (1, MANY, average),
    "mean": (1, MANY, average),
    "mod": (2, 2, modulo),
    "gcd": (1, MANY, fold_whole(math.gcd, "gcd")),
    "lcm": (1, MANY, fold_whole(math.lcm, "lcm")),
    "factorial": (1, 1, factorial),
    "choose": (2, 2, choose),
    "pow": (2, 2, power),
    "sqrt": (1, 1, lambda x: root(x, Number(Fraction(2), True))),
    "cbrt": (1, 1, lambda x: root(x, Number(Fraction(3), True))),
    "root": (2, 2, root),
    "exp": (1, 1, exponential),
    "ln": (1, 1, natural_log),
    "log": (1, 2, lambda x, base=Number(Fraction(10), True): log(x, base)),
    "log10": (1, 1, lambda x: log(x, Number(Fraction(10), True))),
    "log2": (1, 1, lambda x: log(x, Number(Fraction(2), True))),
    "sin": (1, 1, lambda x: wave(x, 0)),
    "cos": (1, 1, lambda x: wave(x, 1)),
    "tan": (1, 1, tangent),
    "asin": (1, 1, arcsine),
    "acos": (1, 1, lambda x: Number(PI / 2 - arcsine(x).value, False)),
    "atan": (1, 1, lambda x: x if x.value == 0 else Number(arctangent(x.value), False)),
    "radians": (1, 1, lambda x: Number(x.value * PI / 180, False)),
    "degrees": (1, 1, lambda x: Number(x.value * 180 / PI, False)),
}
CONSTANTS = {
    "pi": lambda: Number(PI, False),
    "π": lambda: Number(PI, False),
    "e": lambda: rounded(lambda: CONTEXT.exp(1)),
    "tau": lambda: Number(2 * PI, False),
    "phi": lambda: rounded(lambda: CONTEXT.divide(CONTEXT.add(1, CONTEXT.sqrt(5)), 2)),
}


def constant(name):
    if name in CONSTANTS:
        return CONSTANTS[name]()
    if name in FUNCTIONS:
        raise Refusal(f"'{name}' is a function: write {name}(…).")
    raise unknown(name)


def call(name, arguments):
    if name not in FUNCTIONS:
        raise unknown(name)
    fewest, most, function = FUNCTIONS[name]
    if not fewest <= len(arguments) <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise Refusal(f"{name} takes {wanted} argument{'' if wanted == '1' else 's'}, not {len(arguments)}.")
    return function(*arguments)


def unknown(name):
    near = difflib.get_close_matches(name, [*FUNCTIONS, *CONSTANTS], 3)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    return Refusal(
        f"'{name[:40]}' is neither a function nor a constant.{meant} Units go into from_unit and to_unit, not into the expression."
    )
