"""Where a value came from, as aligned lines and as JSON."""

from collections.abc import Iterator

from gpupool.findings import Location
from gpupool.profiles.load import SHIPPED
from gpupool.provenance.values import LayerOutcome, LayerValue, Origin, Provenance, Rendering
from gpupool.reports.escaping import one_line
from gpupool.reports.profiles import to_flow_yaml
from gpupool.shapes.error_messages import dotted
from gpupool.yamlio.located import Plain

_LONGEST = 160
"""Of a value; a script or a long list says no more than its beginning."""

_BESIDE = {
    LayerOutcome.WINS: "wins",
    LayerOutcome.MERGED: "merged",
    LayerOutcome.REMOVES: "removes it",
    LayerOutcome.REPLACED: "",
    LayerOutcome.NO_EFFECT: "no effect",
}


def render_text(provenance: Provenance) -> str:
    """Return each value with what every layer says of it, the lowest first, and what it was rendered to."""
    if not provenance.origins:
        return f"{one_line(provenance.query)}: not set, and not rendered\n"
    return "\n".join("".join(f"{line}\n" for line in _lines(origin)) for origin in provenance.origins)


def to_json(provenance: Provenance) -> Plain:
    """Return the same as plain values."""
    return {"field": provenance.query, "values": [_origin_json(origin) for origin in provenance.origins]}


def _lines(origin: Origin) -> Iterator[str]:
    yield (
        f"{_path(origin)} = {_value(origin.value)}"
        if origin.value is not None
        else f"{_path(origin)}: not set"
    )
    rows = [
        (one_line(said.layer), _place(said.at), _said(said, origin), _beside(said)) for said in origin.chain
    ]
    first, second, third = (max((len(row[column]) for row in rows), default=0) for column in (0, 1, 2))
    for layer, place, value, beside in rows:
        yield f"  {layer:<{first}}  {place:<{second}}  {value:<{third}}  {beside}".rstrip()
    for names, rendering in _together(origin):
        notes = f"  ({'; '.join(map(one_line, rendering.notes))})" if rendering.notes else ""
        yield f"  → {names} {one_line(dotted(rendering.path))}: {_value(rendering.value)}{notes}"


def _together(origin: Origin) -> Iterator[tuple[str, Rendering]]:
    """Yield what is rendered alike in several objects once, with the names of them all."""
    found: dict[str, list[Rendering]] = {}
    for each in origin.renderings:
        kind = each.object.partition("/")[0]
        found.setdefault(repr((kind, each._replace(object=""))), []).append(each)
    for alike in found.values():
        kind = alike[0].object.partition("/")[0]
        names = ", ".join(one_line(each.object.partition("/")[2]) for each in alike)
        yield f"{kind} {names}", alike[0]


def _path(origin: Origin) -> str:
    return one_line(dotted(origin.path))


def _said(said: LayerValue, origin: Origin) -> str:
    """Return a layer's value, and its word where that is another one than the value's own."""
    is_same = origin.path[len(origin.path) - len(said.field) :] == said.field
    return _value(said.value) if is_same else f"{one_line(dotted(said.field))}: {_value(said.value)}"


def _beside(said: LayerValue) -> str:
    told = ": ".join(filter(None, (_BESIDE[said.outcome], one_line(said.note))))
    return f"({told})" if told else ""


def _place(at: Location) -> str:
    if not at.line:
        return ""
    if at.file.startswith(SHIPPED):
        return f"profiles/{at.file.removeprefix(SHIPPED)}:{at.line}"
    return str(at._replace(file=one_line(at.file)))


def _value(value: Plain) -> str:
    shown = one_line(to_flow_yaml(value))
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def _origin_json(origin: Origin) -> Plain:
    return {
        "path": dotted(origin.path),
        "value": origin.value,
        "chain": [_said_json(said) for said in origin.chain],
        "rendered": [_rendering_json(each) for each in origin.renderings],
    }


def _said_json(said: LayerValue) -> Plain:
    made: dict[str, Plain] = {
        "layer": said.layer,
        "word": dotted(said.field),
        "file": said.at.file if said.at.line else None,
        "line": said.at.line or None,
        "column": said.at.column or None,
        "value": said.value,
        "outcome": str(said.outcome),
    }
    return made | ({"note": said.note} if said.note else {})


def _rendering_json(rendering: Rendering) -> Plain:
    made: dict[str, Plain] = {
        "object": rendering.object,
        "path": dotted(rendering.path),
        "value": rendering.value,
    }
    return made | ({"notes": list(rendering.notes)} if rendering.notes else {})
