"""Reads an expression and works it out on exact fractions. Nothing of it is ever run as code."""

import re
from fractions import Fraction

import functions
from functions import Number, Refusal

LENGTH_MAX = 2_000
DEPTH_MAX = 50

TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>0[xX][0-9a-fA-F]+|0[bB][01]+|(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
        | (?P<name>[A-Za-z][A-Za-z0-9_]*|π)
        | (?P<sign>//|[-+*/^%!(),])
    )""",
    re.VERBOSE,
)
WRITTEN_OTHERWISE = {"**": "^", "×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "²": "^2", "³": "^3", "√": "sqrt"}
INFIX_WORDS = {"mod": "mod", "of": "*"}
EXPONENT_DIGITS_MAX = 4


def evaluate(text):
    """The value of an expression, or a Refusal that says what to mend."""
    if len(text) > LENGTH_MAX:
        raise Refusal(f"The expression has {len(text)} characters; at most {LENGTH_MAX} are read.")
    for written, meant in WRITTEN_OTHERWISE.items():
        text = text.replace(written, meant)
    return Parser(tokens_of(text)).whole()


def tokens_of(text):
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = TOKEN.match(text, at)
        if match is None:
            raise Refusal(f"'{text[at:].strip()[:1]}' is not understood in an expression.{hint_for(text[at:])}")
        kind = match.lastgroup
        tokens.append((kind, match.group(kind)))
        at = match.end()
    return tokens


def hint_for(rest):
    if rest.strip()[:1] in "$€£¥":
        return " Write amounts of money as plain numbers."
    if rest.strip()[:1] == "=":
        return " Equations are not solved; give one side."
    return ""


class Parser:
    """From loosest to tightest: + -, * / // % mod of, sign, ^ (from the right), ! and % after a number."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def whole(self):
        value = self.sum()
        if self.at < len(self.tokens):
            raise self.unexpected()
        return value

    def sum(self):
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise Refusal(f"The expression is nested more than {DEPTH_MAX} deep.")
        value = self.product()
        while self.peek() in ("+", "-"):
            value = functions.OPERATORS[self.next()](value, self.product())
        self.depth -= 1
        return value

    def product(self):
        value = self.signed()
        while True:
            sign = INFIX_WORDS.get(self.peek(), self.peek())
            if sign == "%":
                sign = "mod"
            if sign not in ("*", "/", "//", "mod"):
                return value
            self.next()
            value = functions.OPERATORS[sign](value, self.signed())

    def signed(self):
        is_negative = False
        while self.peek() in ("+", "-"):
            is_negative ^= self.next() == "-"
        value = self.power()
        return Number(-value.value, value.exact) if is_negative else value

    def power(self):
        value = self.followed()
        if self.peek() != "^":
            return value
        self.next()
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise Refusal(f"The expression is nested more than {DEPTH_MAX} deep.")
        exponent = self.signed()
        self.depth -= 1
        return functions.power(value, exponent)

    def followed(self):
        value = self.primary()
        while True:
            if self.peek() == "!":
                self.next()
                value = functions.factorial(value)
            elif self.peek() == "%" and not self.is_modulo():
                self.next()
                value = Number(value.value / 100, value.exact)
            else:
                return value

    def is_modulo(self):
        """A % with an operand right after it divides; any other is a percent sign."""
        if self.at + 1 >= len(self.tokens):
            return False
        kind, text = self.tokens[self.at + 1]
        return kind == "number" or text == "(" or (kind == "name" and text.lower() not in INFIX_WORDS)

    def primary(self):
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")
        if kind == "number":
            self.at += 1
            return Number(read_number(text), True)
        if kind == "name":
            return self.named()
        if text == "(":
            self.at += 1
            value = self.sum()
            self.expect(")")
            return value
        raise self.unexpected()

    def named(self):
        name = self.tokens[self.at][1].lower()
        self.at += 1
        if self.peek() != "(":
            return functions.constant(name)
        self.at += 1
        arguments = []
        if self.peek() != ")":
            arguments.append(self.sum())
            while self.peek() == ",":
                self.at += 1
                arguments.append(self.sum())
        self.expect(")")
        return functions.call(name, arguments)

    def peek(self):
        if self.at >= len(self.tokens):
            return None
        kind, text = self.tokens[self.at]
        return text.lower() if kind == "name" else text

    def next(self):
        text = self.peek()
        self.at += 1
        return text

    def expect(self, sign):
        if self.peek() != sign:
            raise Refusal(f"A '{sign}' is missing {self.place()}.")
        self.at += 1

    def unexpected(self):
        if self.at >= len(self.tokens):
            return Refusal("The expression ends too early: a number is missing at its end.")
        text = self.tokens[self.at][1]
        if text == ",":
            return Refusal("A ',' stands only between the arguments of a function: write 1000, not 1,000.")
        return Refusal(f"'{text[:40]}' is not expected {self.place()}.")

    def place(self):
        if self.at >= len(self.tokens):
            return "at the end"
        return f"after '{self.tokens[self.at - 1][1][:40]}'" if self.at > 0 else "at the beginning"


def read_number(text):
    if text[:2].lower() == "0x":
        return functions.bounded(Fraction(int(text, 16)))
    if text[:2].lower() == "0b":
        return functions.bounded(Fraction(int(text, 2)))
    digits = text.lower().replace("_", "")
    exponent = digits.partition("e")[2].lstrip("+-0")
    if len(exponent) > EXPONENT_DIGITS_MAX:
        raise Refusal(f"The number {text[:40]} is out of range.")
    return functions.bounded(Fraction(digits))
