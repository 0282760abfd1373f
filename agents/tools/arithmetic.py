"""Arithmetic as people write it, within limits: numbers, operators, a few functions, nothing else. Pure."""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping

Number = int | float

MAX_LENGTH = 500
#: Results beyond this are refused before they are computed.
MAX_DIGITS = 300
_MAX_BITS = int(MAX_DIGITS * math.log2(10))
_MAX_FACTORIAL = 150


class NotArithmetic(ValueError):
    """The expression cannot be evaluated; the message is for the model."""


def evaluate(expression: str) -> str:
    """The value as text: integers exact, others to 15 significant digits. Raises NotArithmetic."""
    if len(expression) > MAX_LENGTH:
        raise NotArithmetic(f"the expression is longer than {MAX_LENGTH} characters")
    try:
        value = _value(_parsed(expression.strip()))
    except ZeroDivisionError as error:
        raise NotArithmetic("division by zero") from error
    except OverflowError as error:
        raise NotArithmetic("the result is too large") from error
    except (RecursionError, MemoryError) as error:
        raise NotArithmetic("the expression is nested too deeply") from error
    except NotArithmetic:
        raise
    except (ValueError, TypeError) as error:
        raise NotArithmetic(str(error)) from error
    return str(value) if isinstance(value, int) else format(value, ".15g")


def _parsed(expression: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of odd spellings such as `1and 2`
            return ast.parse(expression, mode="eval").body
    except SyntaxError as error:
        raise NotArithmetic(f"the expression is not valid at character {error.offset or 1}") from error


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=bool()):
            raise NotArithmetic("only numbers can be computed")
        case ast.Constant(value=int() | float() as number):
            return _bounded(number)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _bounded(_BINARY[type(op)](_value(left), _value(right)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return _bounded(FUNCTIONS[name](*map(_value, arguments)))
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.BinOp(op=ast.BitXor()):
            raise NotArithmetic("^ is not supported; write ** for powers")
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
            raise NotArithmetic(
                f"{name!r} is not known; known are {', '.join(sorted({*FUNCTIONS, *CONSTANTS}))}"
            )
        case _:
            raise NotArithmetic(f"{type(node).__name__} is not arithmetic")


def _bounded(value: Number | complex) -> Number:
    if isinstance(value, complex):
        raise NotArithmetic("the result is not a real number")
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise OverflowError
    if isinstance(value, float) and not math.isfinite(value):
        raise OverflowError
    return value


def _power(base: Number, exponent: Number) -> Number | complex:
    """Its size is known before it is computed."""
    if isinstance(base, int) and isinstance(exponent, int) and (base.bit_length() - 1) * exponent > _MAX_BITS:
        raise OverflowError
    result: Number | complex = base**exponent
    return result


def _factorial(number: Number) -> int:
    if number > _MAX_FACTORIAL:
        raise OverflowError
    return math.factorial(number)  # type: ignore[arg-type]  # it refuses floats itself, with a message


def _rounded(number: Number, digits: Number = 0) -> Number:
    return round(number, int(digits)) if digits else round(number)


_UNARY: Mapping[type, Callable[[Number], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_BINARY: Mapping[type, Callable[[Number, Number], Number | complex]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}
FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "round": _rounded,
    "floor": math.floor,
    "ceil": math.ceil,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": math.atan2,
    "hypot": math.hypot,
    "degrees": math.degrees,
    "radians": math.radians,
    "factorial": _factorial,
    "gcd": math.gcd,
}
