"""One colour of a deployment → accessible colours for light and dark. Pure; WCAG 2.2 contrast decides.

Whatever colour is given, what is made from the result reaches its contrast on every ground it stands on.
"""

import re
from typing import NamedTuple

Channels = tuple[int, int, int]

COLOR = re.compile(r"#[0-9a-fA-F]{6}")
DEFAULT_COLOR = "#2563eb"

BLACK: Channels = (0, 0, 0)
WHITE: Channels = (255, 255, 255)
_STEPS = tuple(step / 50 for step in range(51))

#: What an edge or a fill, and what text needs (WCAG 1.4.11 and 1.4.3).
EDGE_CONTRAST = 3.0
TEXT_CONTRAST = 4.5


class Palette(NamedTuple):
    """Colours as `#rrggbb`. `soft` carries ordinary text; `text` is for links and focus rings."""

    accent: str
    on_accent: str
    accent_hover: str
    accent_soft: str
    accent_text: str

    def as_json(self) -> dict[str, str]:
        """The same under their names on the wire: `accent`, `onAccent`, `accentHover`…"""
        return dict(zip(_WIRE_NAMES, self, strict=True))


_WIRE_NAMES = ("accent", "onAccent", "accentHover", "accentSoft", "accentText")


class _Mode(NamedTuple):
    """What a mode stands on. `pole` is where its colours move to gain contrast."""

    pole: Channels
    bg: Channels
    surface: Channels
    sunken: Channels
    softness: float


_LIGHT = _Mode(BLACK, (0xF6, 0xF7, 0xF9), WHITE, (0xEE, 0xF0, 0xF4), 0.10)
_DARK = _Mode(WHITE, (0x0F, 0x12, 0x18), (0x17, 0x1B, 0x23), (0x1F, 0x25, 0x30), 0.16)


class Theme(NamedTuple):
    color: str
    light: Palette
    dark: Palette

    def as_json(self) -> dict[str, str | dict[str, str]]:
        """`{"color": "#…", "light": {…}, "dark": {…}}`"""
        return {"color": self.color, "light": self.light.as_json(), "dark": self.dark.as_json()}


def theme(color: str) -> Theme:
    """Return both palettes of a colour `#rrggbb`; anything else raises ValueError."""
    base = parse(color)
    return Theme(color=color.lower(), light=_palette(base, _LIGHT), dark=_palette(base, _DARK))


def parse(color: str) -> Channels:
    if not COLOR.fullmatch(color):
        raise ValueError("A colour is # and six hexadecimal digits.")
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def contrast(one: Channels, other: Channels) -> float:
    """The WCAG contrast of two colours, from 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _palette(base: Channels, mode: _Mode) -> Palette:
    accent = _first(base, mode.pole, EDGE_CONTRAST, (mode.bg, mode.surface))
    on_accent = WHITE if contrast(WHITE, accent) >= TEXT_CONTRAST else BLACK
    hover = _mix(accent, BLACK if on_accent == WHITE else WHITE, 0.12)
    soft = _mix(mode.surface, accent, mode.softness)
    text = _first(base, mode.pole, TEXT_CONTRAST, (mode.bg, mode.surface, mode.sunken, soft))
    return Palette(*(_text(channels) for channels in (accent, on_accent, hover, soft, text)))


def _first(base: Channels, pole: Channels, least: float, grounds: tuple[Channels, ...]) -> Channels:
    """The colour nearest to `base` on its way to `pole` that stands out from every ground."""
    for step in _STEPS:
        candidate = _mix(base, pole, step)
        if all(contrast(candidate, ground) >= least for ground in grounds):
            return candidate
    return pole


def _mix(one: Channels, other: Channels, share: float) -> Channels:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _luminance(channels: Channels) -> float:
    red, green, blue = (_linear(channel / 255) for channel in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def _text(channels: Channels) -> str:
    return "#{:02x}{:02x}{:02x}".format(*channels)
