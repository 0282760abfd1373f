"""A deployment's colour: the vectors that were agreed, and that no colour whatever fails its contrast."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.theme import BLACK, WHITE, Palette, contrast, parse, theme

GROUNDS = {
    "light": {
        "bg": "#f6f7f9",
        "surface": "#ffffff",
        "sunken": "#eef0f4",
        "text": "#1a1f2b",
        "muted": "#545d6e",
    },
    "dark": {
        "bg": "#0f1218",
        "surface": "#171b23",
        "sunken": "#1f2530",
        "text": "#e7eaf0",
        "muted": "#a4adbc",
    },
}

VECTORS = [
    ("#ffd400", "light", "#a88c00 #000000 #f6f4e6 #806a00"),
    ("#ffd400", "dark", "#ffd400 #000000 #3c391d #ffd400"),
    ("#00a884", "light", "#00a17f #000000 #e6f6f2 #007c62"),
    ("#00a884", "dark", "#00a884 #000000 #133233 #00a884"),
    ("#e11d48", "light", "#e11d48 #ffffff #fce8ed #cf1b42"),
    ("#e11d48", "dark", "#e11d48 #ffffff #371b29 #e95c7b"),
    ("#000000", "dark", "#666666 #ffffff #24272e #8f8f8f"),
    ("#ffffff", "light", "#8f8f8f #000000 #f4f4f4 #6b6b6b"),
]

colors = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


@pytest.mark.parametrize(("color", "mode", "expected"), VECTORS)
def test_it_makes_the_agreed_colours(color: str, mode: str, expected: str) -> None:
    palette: Palette = getattr(theme(color), mode)
    assert [palette.accent, palette.on_accent, palette.accent_soft, palette.accent_text] == expected.split()


def test_it_keeps_the_default_palette_of_the_style_sheets() -> None:
    made = theme("#2563eb")
    assert made.light == ("#2563eb", "#ffffff", "#2157cf", "#e9effd", "#2461e6")
    assert made.dark == ("#2563eb", "#ffffff", "#2157cf", "#192743", "#5e8cf0")


def test_it_reads_capitals_and_gives_small_letters() -> None:
    assert theme("#FFD400") == theme("#ffd400")


@pytest.mark.parametrize(
    "color", ["", "red", "#fff", "ffd400", "#ffd40", "#ffd4000", "#ggd400", "#ffd400\n", "#ffd400;"]
)
def test_it_refuses_what_is_no_colour(color: str) -> None:
    with pytest.raises(ValueError, match="six hexadecimal digits"):
        theme(color)


def test_it_names_colours_as_clients_read_them() -> None:
    wire = theme("#2563EB").as_json()
    assert list(wire) == ["color", "light", "dark"]
    assert wire["color"] == "#2563eb"
    assert wire["light"] == {
        "accent": "#2563eb",
        "onAccent": "#ffffff",
        "accentHover": "#2157cf",
        "accentSoft": "#e9effd",
        "accentText": "#2461e6",
    }


@given(color=colors, mode=st.sampled_from(["light", "dark"]))
def test_it_reaches_every_contrast_for_every_colour(color: str, mode: str) -> None:
    palette: Palette = getattr(theme(color), mode)
    accent, on_accent, hover, soft, text = (parse(value) for value in palette)
    grounds = {name: parse(value) for name, value in GROUNDS[mode].items()}
    assert on_accent in (BLACK, WHITE)
    assert min(contrast(accent, grounds["bg"]), contrast(accent, grounds["surface"])) >= 3
    assert contrast(on_accent, accent) >= 4.5
    assert contrast(on_accent, hover) >= contrast(on_accent, accent)
    assert min(contrast(text, grounds[name]) for name in ("bg", "surface", "sunken")) >= 4.5
    assert contrast(text, soft) >= 4.5
    assert contrast(grounds["text"], soft) >= 8.7
    assert contrast(grounds["muted"], soft) >= 4.6
