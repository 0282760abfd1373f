"""Numbers as people read them (money, tokens, durations). Pure; unknown is said, never shown as 0."""

from decimal import Decimal


def money(dollars: float | None) -> str:
    """`$1.24`, two significant digits under a cent, "not known" for None."""
    if dollars is None:
        return "not known"
    if dollars == 0 or dollars >= 0.01:
        return f"${dollars:,.2f}"
    return f"${Decimal(f'{dollars:.2g}'):f}"


def count(number: float) -> str:
    """`840`, `12.4k`, `3.1M`."""
    for size, sign in ((1_000_000, "M"), (10_000, "k")):
        if number >= size:
            return f"{number / (1_000_000 if sign == 'M' else 1_000):.1f}{sign}".replace(".0", "")
    return f"{number:,.0f}"


def duration(seconds: float | None) -> str:
    """`0.8 s`, `12 s`, `3 min 20 s`."""
    if seconds is None:
        return "–"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def compared(now: float, usual: float) -> str:
    """`12 more than usual`, for the same hours of other days."""
    difference = round(now - usual)
    if difference == 0:
        return "as usual"
    return f"{count(abs(difference))} {'more' if difference > 0 else 'fewer'} than usual"
