"""The colours of figures and pages, for light and for dark paper."""

from __future__ import annotations

PALETTE = {
    "paper": ("#fdfcf9", "#15181c"),
    "panel": ("#f5f3ed", "#1d2126"),
    "ink": ("#1b1f24", "#e9e6df"),
    "soft": ("#555b63", "#a9adb3"),
    "rule": ("#d9d5ca", "#3a4048"),
    "hair": ("#ebe8df", "#272c32"),
    "link": ("#1a4f86", "#9cc6f0"),
    "group-a": ("#0f5f9c", "#78b6ee"),
    "group-b": ("#b0520a", "#f0a05a"),
    "other": ("#6b7078", "#9a9fa6"),
    "band-a": ("#0f5f9c66", "#78b6ee66"),
    "band-b": ("#b0520a66", "#f0a05a66"),
    "band-o": ("#6b707859", "#9a9fa659"),
    "strength": ("#5b4391", "#b9a3ec"),
    "strength-band": ("#5b43915e", "#b9a3ec5e"),
    "s0": ("#f0edf5", "#262330"),
    "s1": ("#d9d0e8", "#3a3250"),
    "s2": ("#bcadd6", "#524473"),
    "s3": ("#9a86c0", "#745fa3"),
    "s4": ("#6f58a3", "#a08bd0"),
    "s5": ("#463273", "#d3c6f3"),
    "a1": ("#dbe6ef", "#222f3b"),
    "a2": ("#a7c6de", "#2f485e"),
    "a3": ("#6fa3cb", "#416483"),
    "b1": ("#f4e3d5", "#37291d"),
    "b2": ("#e5be9c", "#553b23"),
    "b3": ("#d59a64", "#7a532f"),
}
"""By name; ``s0`` to ``s5`` are steps of strength, ``a1`` to ``a3`` and ``b1`` to ``b3`` steps in two directions."""
LIGHT = {name: light for name, (light, _) in PALETTE.items()}
WHITE = "#ffffff"
"""The background of an SVG file."""
