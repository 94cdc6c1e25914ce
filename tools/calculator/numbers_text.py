"""Numbers as people read them."""

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

WHOLE_DIGITS_MAX = 400
FRACTION_DIGITS_MAX = 60
PLAIN_EXPONENTS = range(-7, 25)


def decimal_text(value, digits, is_exact):
    """The value with that many significant digits, and whether nothing was lost. More digits where that is exact."""
    if value.denominator == 1 and is_exact:
        text = str(value.numerator)
        if len(text) <= WHOLE_DIGITS_MAX:
            return text, True
    wide = Context(prec=max(digits, WHOLE_DIGITS_MAX), Emax=999_999, Emin=-999_999)
    if is_exact and is_terminating(value):
        found = wide.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(wide)
        if Fraction(found) == value and len(found.as_tuple().digits) <= max(digits, FRACTION_DIGITS_MAX):
            return plain(found), True
    narrow = Context(prec=digits, rounding=ROUND_HALF_EVEN, Emax=999_999, Emin=-999_999)
    return plain(narrow.divide(Decimal(value.numerator), Decimal(value.denominator))), False


def is_terminating(value):
    rest = value.denominator
    rest >>= (rest & -rest).bit_length() - 1
    while rest % 5 == 0:
        rest //= 5
    return rest == 1


def plain(number):
    number = number.normalize(Context(prec=10_000, Emax=999_999, Emin=-999_999))
    if number.is_zero():
        return "0"
    if number.adjusted() in PLAIN_EXPONENTS:
        return f"{number:f}"
    sign, digits, _ = number.as_tuple()
    first, *rest = "".join(map(str, digits))
    return f"{'-' if sign else ''}{first}{'.' if rest else ''}{''.join(rest)}e{number.adjusted():+d}"


def fraction_text(value):
    """As 1/3, or None where that is no help to anybody."""
    text = str(value)
    return text if value.denominator != 1 and len(text) <= FRACTION_DIGITS_MAX else None
