"""Origin of a value in profiles and blueprint layers, as text and JSON."""

from collections.abc import Iterator

from gpupool.findings import Location
from gpupool.profiles.load import SHIPPED
from gpupool.provenance.values import LayerOutcome, LayerValue, Origin, Provenance, Rendering
from gpupool.reports.escaping import one_line
from gpupool.reports.profiles import to_flow_yaml
from gpupool.shapes.error_messages import format_path
from gpupool.yamlio.located import Plain

_MAX_CHARACTERS = 160
"""Characters of a value that are shown; the rest of a script or a long list is cut."""

_OUTCOMES = {
    LayerOutcome.WINS: "wins",
    LayerOutcome.MERGED: "merged",
    LayerOutcome.REMOVES: "removes it",
    LayerOutcome.REPLACED: "",
    LayerOutcome.NO_EFFECT: "no effect",
}


def render_text(provenance: Provenance) -> str:
    """Return each value with the value of every layer, the lowest first, and its renderings."""
    if not provenance.origins:
        return f"{one_line(provenance.query)}: not set, and not rendered\n"
    return "\n".join("".join(f"{line}\n" for line in _lines(origin)) for origin in provenance.origins)


def to_json(provenance: Provenance) -> Plain:
    """Return the origins as values of JSON."""
    return {"field": provenance.query, "values": [_origin_json(origin) for origin in provenance.origins]}


def _lines(origin: Origin) -> Iterator[str]:
    yield (
        f"{_path(origin)} = {_value(origin.value)}"
        if origin.value is not None
        else f"{_path(origin)}: not set"
    )
    rows = [
        (
            one_line(layer_value.layer),
            _place(layer_value.at),
            _layer_text(layer_value, origin),
            _outcome(layer_value),
        )
        for layer_value in origin.chain
    ]
    first, second, third = (max((len(row[column]) for row in rows), default=0) for column in (0, 1, 2))
    for layer, place, value, outcome in rows:
        yield f"  {layer:<{first}}  {place:<{second}}  {value:<{third}}  {outcome}".rstrip()
    for names, rendering in _group_renderings(origin):
        notes = f"  ({'; '.join(map(one_line, rendering.notes))})" if rendering.notes else ""
        yield f"  → {names} {one_line(format_path(rendering.path))}: {_value(rendering.value)}{notes}"


def _group_renderings(origin: Origin) -> Iterator[tuple[str, Rendering]]:
    """Yield equal renderings in several objects once, with the names of the objects."""
    groups: dict[str, list[Rendering]] = {}
    for rendering in origin.renderings:
        kind = rendering.object.partition("/")[0]
        groups.setdefault(repr((kind, rendering._replace(object=""))), []).append(rendering)
    for equal in groups.values():
        kind = equal[0].object.partition("/")[0]
        names = ", ".join(one_line(rendering.object.partition("/")[2]) for rendering in equal)
        yield f"{kind} {names}", equal[0]


def _path(origin: Origin) -> str:
    return one_line(format_path(origin.path))


def _layer_text(layer_value: LayerValue, origin: Origin) -> str:
    """Return the value of a layer, with its field where that differs from the value's own."""
    is_same = origin.path[len(origin.path) - len(layer_value.field) :] == layer_value.field
    return (
        _value(layer_value.value)
        if is_same
        else f"{one_line(format_path(layer_value.field))}: {_value(layer_value.value)}"
    )


def _outcome(layer_value: LayerValue) -> str:
    text = ": ".join(filter(None, (_OUTCOMES[layer_value.outcome], one_line(layer_value.note))))
    return f"({text})" if text else ""


def _place(at: Location) -> str:
    if not at.line:
        return ""
    if at.file.startswith(SHIPPED):
        return f"profiles/{at.file.removeprefix(SHIPPED)}:{at.line}"
    return str(at._replace(file=one_line(at.file)))


def _value(value: Plain) -> str:
    shown = one_line(to_flow_yaml(value))
    return shown if len(shown) <= _MAX_CHARACTERS else f"{shown[:_MAX_CHARACTERS]}…"


def _origin_json(origin: Origin) -> Plain:
    return {
        "path": format_path(origin.path),
        "value": origin.value,
        "chain": [_layer_json(layer_value) for layer_value in origin.chain],
        "rendered": [_rendering_json(rendering) for rendering in origin.renderings],
    }


def _layer_json(layer_value: LayerValue) -> Plain:
    values: dict[str, Plain] = {
        "layer": layer_value.layer,
        "word": format_path(layer_value.field),
        "file": layer_value.at.file if layer_value.at.line else None,
        "line": layer_value.at.line or None,
        "column": layer_value.at.column or None,
        "value": layer_value.value,
        "outcome": str(layer_value.outcome),
    }
    return values | ({"note": layer_value.note} if layer_value.note else {})


def _rendering_json(rendering: Rendering) -> Plain:
    values: dict[str, Plain] = {
        "object": rendering.object,
        "path": format_path(rendering.path),
        "value": rendering.value,
    }
    return values | ({"notes": list(rendering.notes)} if rendering.notes else {})
