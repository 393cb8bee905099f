"""Find the layers (optional content) that are off, whose text is not shown (8.11)."""

from __future__ import annotations

from websearch.pages.pdf.syntax import Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.pdf.file import PdfFile


def hidden_layers(file: PdfFile) -> set[int]:
    """Return the numbers of the layers that are off when a file is opened."""
    content = file.fields(file.root(), "OCProperties")
    config = file.fields(content, "D")
    off = references(file, config, "OFF")
    if file.field(config, "BaseState") == "OFF":
        off |= references(file, content, "OCGs") - references(file, config, "ON")
    return off


def references(file: PdfFile, container: object, name: str) -> set[int]:
    """Return the numbers of the objects that a field refers to, directly or in an array."""
    value = container.get(name) if isinstance(container, dict) else None
    if isinstance(value, Reference) and not isinstance(file.resolve(value), list):
        return {value.number}
    listed = file.resolve(value)
    items = listed if isinstance(listed, list) else []
    return {item.number for item in items if isinstance(item, Reference)}


def is_off(file: PdfFile, container: object, name: str, off: set[int]) -> bool:
    """Return whether the layer or layer group that a field refers to is off."""
    if not off or not isinstance(container, dict):
        return False
    layers = references(file, container, name)
    group = file.field(container, name)
    if isinstance(group, dict) and group.get("Type") == "OCMD":
        layers = references(file, group, "OCGs")
        if group.get("P") in ("AllOn", "AnyOff"):
            return group["P"] == "AllOn" and not layers.isdisjoint(off)
    return bool(layers) and layers <= off
