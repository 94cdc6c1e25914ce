"""Units of measure, exact by definition, and conversion between those that measure the same thing."""

import difflib
import re
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from functions import PI, Number, Refusal, bounded

LENGTH_MAX = 100
POWER_MAX = 12

PREFIXES = {
    "Q": 30, "R": 27, "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "da": 1,
    "d": -1, "c": -2, "m": -3, "u": -6, "n": -9, "p": -12, "f": -15, "a": -18, "z": -21, "y": -24, "r": -27, "q": -30,
}  # fmt: skip
LONG_PREFIXES = {
    "exa": 18, "peta": 15, "tera": 12, "giga": 9, "mega": 6, "kilo": 3, "hecto": 2, "deca": 1, "deka": 1,
    "deci": -1, "centi": -2, "milli": -3, "micro": -6, "nano": -9, "pico": -12, "femto": -15, "atto": -18,
}  # fmt: skip
BINARY_PREFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
LONG_BINARY_PREFIXES = {"kibi": 10, "mebi": 20, "gibi": 30, "tebi": 40, "pebi": 50, "exbi": 60}
# In these a lone unit is meant as a temperature: (zero in kelvin divided by the size of a degree, size of a degree).
TEMPERATURES = {
    "K": (Fraction(0), Fraction(1)),
    "C": (Fraction("273.15"), Fraction(1)),
    "F": (Fraction("459.67"), Fraction(5, 9)),
    "R": (Fraction(0), Fraction(5, 9)),
}
TEMPERATURE_NAMES = {
    "°c": "C", "degc": "C", "celsius": "C", "centigrade": "C", "c": "C",
    "°f": "F", "degf": "F", "fahrenheit": "F", "f": "F",
    "k": "K", "kelvin": "K", "kelvins": "K", "degk": "K",
    "°r": "R", "degr": "R", "rankine": "R",
}  # fmt: skip

# Names (a symbol first), size, in what; `+` after the names: takes prefixes. Sizes are exact.
TABLE = """
m metre meter + = 1
in inch inches = 0.0254 m
ft foot feet = 12 in
yd yard = 3 ft
furlong = 660 ft
mi mile = 5280 ft
nmi nautical_mile = 1852 m
au astronomical_unit = 149597870700 m
ly light_year lightyear = 9460730472580800 m
angstrom = 0.0000000001 m
ha hectare = 10000 m^2
acre = 4840 yd^2
sqft square_foot square_feet = 1 ft^2
sqm square_metre square_meter = 1 m^2
sqkm = 1000000 m^2
sqmi square_mile = 1 mi^2
L litre liter l + = 0.001 m^3
cc = 0.000001 m^3
gal gallon us_gallon = 231 in^3
qt quart = 0.25 gal
pt pint us_pint = 0.125 gal
cup us_cup = 0.0625 gal
floz fl_oz fluid_ounce = 0.0078125 gal
tbsp tablespoon = 0.5 floz
tsp teaspoon = 1/6 floz
imp_gal imperial_gallon = 4.54609 L
imp_pt imperial_pint = 0.125 imp_gal
imp_floz imperial_fluid_ounce = 0.00625 imp_gal
bbl oil_barrel barrel = 42 gal
g gram gramme + = 1
t tonne metric_ton = 1000000 g
lb pound lbs = 453.59237 g
oz ounce = 0.0625 lb
st stone = 14 lb
short_ton us_ton = 2000 lb
long_ton = 2240 lb
ct carat = 0.2 g
troy_oz troy_ounce ozt = 31.1034768 g
s sec second + = 1
min minute = 60 s
h hr hour = 60 min
d day = 24 h
wk week = 7 d
yr year = 365.25 d
month = 30.4375 d
A ampere amp + = 1
mol mole + = 1
bit + = 1
B byte + = 8 bit
bps = 1 bit/s
rad radian + = 1
deg degree ° = 1/180 rad
arcmin = 1/60 deg
arcsec = 1/60 arcmin
turn revolution = 2 rad
Hz hertz + = 1 s^-1
rpm = 1 min^-1
N newton + = 1000 g*m/s^2
lbf pound_force = 9.80665 lb*m/s^2
kgf = 9806.65 g*m/s^2
Pa pascal + = 1 N/m^2
bar + = 100000 Pa
atm atmosphere = 101325 Pa
psi = 1 lbf/in^2
mmHg = 133.322387415 Pa
torr = 101325/760 Pa
inHg = 3386.389 Pa
J joule + = 1 N*m
Wh watt_hour + = 3600 J
cal calorie + = 4.184 J
Cal = 4184 J
eV electronvolt + = 0.0000000000000000001602176634 J
BTU btu = 1055.05585262 J
erg = 0.0000001 J
W watt + = 1 J/s
hp horsepower = 550 ft*lbf/s
V volt + = 1 W/A
ohm Ω + = 1 V/A
coulomb + = 1 A*s
farad + = 1 A*s/V
tesla + = 1 V*s/m^2
mph = 1 mi/h
mpg = 1 mi/gal
kph kmh = 1000 m/h
kn knot kt = 1 nmi/h
speed_of_light = 299792458 m/s
gee standard_gravity = 9.80665 m/s^2
one = 1
percent = 0.01 one
dozen = 12 one
"""
# Sizes that are a multiple of pi.
TIMES_PI = ("deg", "turn")
BASES = ("m", "g", "s", "A", "mol", "bit", "rad", "K")


class Unit(NamedTuple):
    """So many times pi to some power, and the power of each base unit."""

    factor: Fraction
    pi_power: int
    powers: tuple


class Entry(NamedTuple):
    size: Fraction
    of: str
    has_prefixes: bool


def read_table():
    entries, owners = {}, {}
    for line in TABLE.strip().splitlines():
        left, _, right = line.partition(" = ")
        names = left.split()
        has_prefixes = names[-1] == "+"
        names = names[:-1] if has_prefixes else names
        size, _, of = right.partition(" ")
        entries[names[0]] = Entry(Fraction(size), of, has_prefixes)
        for name in names:
            owners[name] = names[0]
    return entries, owners


ENTRIES, OWNERS = read_table()
# Where two differ only in case, the small letters win.
LOWER = {name.lower(): OWNERS[name] for name in sorted(OWNERS) if len(name) > 1}
DIMENSIONLESS = Unit(Fraction(1), 0, (0,) * len(BASES))


def convert(number, source, target):
    """The number of the target unit that is as much as this number of the source unit."""
    from_scale, to_scale = temperature_of(source), temperature_of(target)
    if from_scale and to_scale:
        return convert_temperature(number, TEMPERATURES[from_scale], TEMPERATURES[to_scale])
    source_unit, target_unit = read_unit(source), read_unit(target)
    if source_unit.powers != target_unit.powers:
        raise Refusal(
            f"'{source}' and '{target}' do not measure the same thing:"
            f" the first is {measures(source_unit)}, the second {measures(target_unit)}."
        )
    pi_power = source_unit.pi_power - target_unit.pi_power
    value = number.value * source_unit.factor / target_unit.factor * PI**pi_power
    return Number(bounded(value), number.exact and pi_power == 0)


def convert_temperature(number, source, target):
    (from_zero, from_size), (to_zero, to_size) = source, target
    kelvin = (number.value + from_zero) * from_size
    if kelvin < 0:
        raise Refusal("That is below absolute zero.")
    return Number(bounded(kelvin / to_size - to_zero), number.exact)


def temperature_of(text):
    return TEMPERATURE_NAMES.get(text.strip().lower())


def measures(unit):
    parts = [f"{base}^{power}" if power != 1 else base for base, power in zip(BASES, unit.powers) if power != 0]
    return "*".join(parts) or "a plain number"


def read_unit(text):
    """km/h, kg*m/s^2, m², kWh, W/(m^2 K)."""
    if len(text) > LENGTH_MAX:
        raise Refusal(f"A unit is written in at most {LENGTH_MAX} characters.")
    written = re.sub(r"\s+per\s+", "/", text.strip())
    for other, meant in {"²": "^2", "³": "^3", "µ": "u", "μ": "u", "**": "^", "·": "*", "⋅": "*"}.items():
        written = written.replace(other, meant)
    written = re.sub(r"(?<=[A-Za-z])[23]\b", r"^\g<0>", written)
    words = re.findall(r"[*/()]|\^\s*[+-]?\d{1,3}|[^\s*/()^]+|\S", written)
    unit, rest = read_product(words)
    if rest:
        raise Refusal(f"The unit '{text}' is not understood from '{rest[0]}' on.")
    return unit


def read_product(words):
    unit, rest = read_power(words)
    while rest and rest[0] != ")":
        sign = -1 if rest[0] == "/" else 1
        factor, rest = read_power(rest[1:] if rest[0] in "*/" else rest)
        unit = multiplied(unit, factor, sign)
    return unit, rest


def read_power(words):
    if not words or words[0] in ("*", "/", ")") or words[0].startswith("^"):
        raise Refusal("A unit is missing: write it as km/h, m^2 or kg*m/s^2.")
    if words[0] == "(":
        unit, rest = read_product(words[1:])
        if not rest:
            raise Refusal("A ')' is missing in a unit.")
        rest = rest[1:]
    else:
        unit, rest = find_unit(words[0]), words[1:]
    if not rest or len(rest[0]) < 2 or not rest[0].startswith("^"):
        return unit, rest
    power = int(rest[0][1:])
    if abs(power) > POWER_MAX:
        raise Refusal(f"Powers of units go up to {POWER_MAX}.")
    return multiplied(DIMENSIONLESS, unit, power), rest[1:]


def multiplied(unit, other, times):
    return Unit(
        bounded(unit.factor * other.factor**times),
        unit.pi_power + other.pi_power * times,
        tuple(a + b * times for a, b in zip(unit.powers, other.powers)),
    )


def find_unit(name):
    low = name.lower()
    found = named(name) or prefixed(name)
    for candidate in (low, low.removesuffix("s"), low.removesuffix("es")):
        found = found or named(LOWER.get(candidate)) or prefixed_long(candidate)
    found = found or (prefixed(low) if len(low) > 1 else None)
    if found is None:
        raise Refusal(f"The unit '{name}' is not known.{hint_for(name)}")
    return found


def hint_for(name):
    if temperature_of(name):
        return " It is a scale with a zero of its own: within a larger unit write K."
    if name.lower() in ("ton", "tons"):
        return " Write tonne, short_ton or long_ton."
    if re.fullmatch(r"[A-Z]{3}|[$€£¥]|dollars?|euros?", name):
        return " Currencies are not converted: their rates change."
    near = difflib.get_close_matches(name, [*OWNERS, *TEMPERATURE_NAMES], 3)
    return f" Did you mean {' or '.join(near)}?" if near else ""


@cache
def named(name):
    if name in ("K", "kelvin"):
        return base_unit("K")
    if name not in OWNERS:
        return None
    owner = OWNERS[name]
    size, of, _ = ENTRIES[owner]
    if of == "":
        return DIMENSIONLESS if owner == "one" else base_unit(owner)
    unit = multiplied(Unit(size, 0, DIMENSIONLESS.powers), read_unit(of), 1)
    return unit._replace(pi_power=1) if owner in TIMES_PI else unit


def base_unit(name):
    return Unit(Fraction(1), 0, tuple(int(base == name) for base in BASES))


def prefixed(name):
    for prefix, exponent in PREFIXES.items():
        rest = name.removeprefix(prefix)
        if rest != name and (rest == "K" or takes_prefixes(rest)):
            return scaled(named(rest), 10, exponent)
    for prefix, exponent in BINARY_PREFIXES.items():
        if name.startswith(prefix) and name.removeprefix(prefix) in ("B", "bit"):
            return scaled(named(name.removeprefix(prefix)), 2, exponent)
    return None


def prefixed_long(name):
    for prefixes, base in ((LONG_PREFIXES, 10), (LONG_BINARY_PREFIXES, 2)):
        for prefix, exponent in prefixes.items():
            owner = LOWER.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
            if owner is not None and takes_prefixes(owner):
                return scaled(named(owner), base, exponent)
    return None


def takes_prefixes(name):
    """Of the names of a unit, only its symbol does: kL and kl, not kliter."""
    return name in ENTRIES and ENTRIES[name].has_prefixes or name == "l"


def scaled(unit, base, exponent):
    return unit._replace(factor=unit.factor * Fraction(base) ** exponent)
