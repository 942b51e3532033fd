"""The page's gradio theme: our colours on gradio's parts. Our own views are coloured by `assets/css/views.css`."""

from __future__ import annotations

from gradio.themes import Base, LocalFont, colors, sizes

_WEIGHTS = (400, 700)  # gradio 6.31 ships the semi-bold files without most of their letters

# Contrast of text on its ground is at least 4.5:1 in both modes; a browser test measures it.
_LIGHT = {
    "body_background_fill": "#f4f5f8",
    "block_background_fill": "#ffffff",
    "body_text_color": "#191d26",
    "body_text_color_subdued": "#4f5868",
    "block_label_text_color": "#4f5868",
    "border_color_primary": "#d3d8e2",
    "block_border_color": "#d3d8e2",
    "input_background_fill": "#ffffff",
    "input_border_color": "#b9c1cf",
    "input_placeholder_color": "#5d6778",
    "button_primary_background_fill": "#1d4fc4",
    "button_primary_background_fill_hover": "#173f9e",
    "button_primary_text_color": "#ffffff",
    "button_secondary_background_fill": "#ffffff",
    "button_secondary_background_fill_hover": "#eceff5",
    "button_secondary_text_color": "#191d26",
    "button_secondary_border_color": "#b9c1cf",
    "link_text_color": "#1d4fc4",
}
_DARK = {
    "body_background_fill": "#0d1015",
    "block_background_fill": "#14181f",
    "body_text_color": "#e7ebf2",
    "body_text_color_subdued": "#a6b0c0",
    "block_label_text_color": "#a6b0c0",
    "border_color_primary": "#2b3340",
    "block_border_color": "#2b3340",
    "input_background_fill": "#14181f",
    "input_border_color": "#3c4656",
    "input_placeholder_color": "#97a2b4",
    "button_primary_background_fill": "#8fb0ff",
    "button_primary_background_fill_hover": "#aac3ff",
    "button_primary_text_color": "#0b1220",
    "button_secondary_background_fill": "#1a2029",
    "button_secondary_background_fill_hover": "#252d39",
    "button_secondary_text_color": "#e7ebf2",
    "button_secondary_border_color": "#3c4656",
    "link_text_color": "#8fb0ff",
}


def build_theme() -> Base:
    """Return the theme: small, square, quiet."""
    theme = Base(
        primary_hue=colors.blue,
        neutral_hue=colors.slate,
        spacing_size=sizes.spacing_sm,
        radius_size=sizes.radius_sm,
        text_size=sizes.text_sm,
        font=[LocalFont("IBM Plex Sans", weights=_WEIGHTS), "ui-sans-serif", "system-ui", "sans-serif"],
        font_mono=[LocalFont("IBM Plex Mono", weights=_WEIGHTS), "ui-monospace", "Menlo", "Consolas", "monospace"],
    )
    values = {**_LIGHT, **{f"{name}_dark": value for name, value in _DARK.items()}}
    return theme.set(**values, block_shadow="none", button_primary_shadow="none", block_border_width="1px")
