"""Edits of a recorded call: a setting, an argument, a layer before it. A change is what the line becomes."""

from __future__ import annotations

from dataclasses import dataclass

from laststep.analysis.finding import Remedy
from laststep.record.events.network import Argument, CallSource, Network, PassedLayer
from laststep.record.place import Place


@dataclass(frozen=True)
class Edit:
    """The line `where` becomes `change`, which may be several lines; all get the indentation of that line."""

    where: Place
    change: str


def _edit(source: CallSource, line: int, text: str, *new: str) -> Edit:
    return Edit(_place(source, line, text), "\n".join(each.strip() for each in new))


def _place(source: CallSource, line: int, text: str) -> Place:
    return Place(source.file, line, text.strip()[:200], is_users=True)


def _line(source: CallSource, number: int) -> str | None:
    at = number - source.line
    return source.lines[at] if 0 <= at < len(source.lines) else None


def argument(source: CallSource, name: str, position: int | None = None) -> Argument | None:
    """The argument of this name, or the positional one at this place."""
    given = {each.name: each for each in source.arguments if each.name}
    positional = [each for each in source.arguments if not each.name]
    known = position is not None and position < len(positional)
    return given.get(name) or (positional[position] if known and position is not None else None)


def replace_argument(source: CallSource, given: Argument, new: str) -> Edit | None:
    """With its name, where it has one."""
    text = _line(source, given.line)
    if text is None or not 0 <= given.begin <= given.end <= len(text):
        return None
    return _edit(source, given.line, text, text[: given.begin] + new + text[given.end :])


def with_setting(source: CallSource | None, name: str, value: str, position: int | None = None) -> Edit | None:
    """The call with this argument: replaced where it is given, else put before the closing parenthesis."""
    if source is None or any(each.name == "**" for each in source.arguments):
        return None
    given = argument(source, name, position)
    if given is not None:
        return replace_argument(source, given, value)
    line, column = source.close or (0, 0)
    text = _line(source, line)
    if text is None or text[column : column + 1] != ")":
        return None
    before = text[:column].rstrip() or _before(source, line)
    if not text[:column].strip() and before.endswith(","):  # each argument on a line of its own
        return Edit(_place(source, line, text), f"    {name}={value},\n{text.strip()}")
    comma = "" if before.endswith(("(", ",")) else ", "
    return _edit(source, line, text, f"{text[:column].rstrip()}{comma or _gap(before)}{name}={value}{text[column:]}")


def _gap(before: str) -> str:
    return " " if before.endswith(",") else ""


def _before(source: CallSource, line: int) -> str:
    """The last text before a line that begins with the parenthesis."""
    earlier = [text for text in source.lines[: line - source.line] if text.strip()]
    return earlier[-1].rstrip() if earlier else "("


def with_layer_before(layer: PassedLayer, call: str, reach: str | None) -> Edit | None:
    """Another layer before this one: `call` is Flatten() without the name of its module."""
    source = layer.made
    if source is None or not source.lines:
        return None
    prefix = _module_of(source) or reach or ""
    imports = () if prefix else (f"from {layer.library or 'keras'}.layers import {call.partition('(')[0]}",)
    text, made = source.lines[0], prefix + call
    if source.form == "added" and text.strip().startswith(f"{source.receiver}("):
        return _edit(source, source.line, text, *imports, f"{source.receiver}({made})", text)
    if source.use is not None:
        return _applied_before(source, made, imports)
    return _element_before(source, made) if source.form == "element" and prefix else None


def _module_of(source: CallSource) -> str:
    """`layers.` of layers.LSTM; empty where the class was imported by its name."""
    module, dot, _ = source.name.rpartition(".")
    return module + dot


def _element_before(source: CallSource, made: str) -> Edit:
    text = source.lines[0]
    if not text[: source.begin].strip():
        return _edit(source, source.line, text, f"{made},", text)
    return _edit(source, source.line, text, f"{text[: source.begin]}{made}, {text[source.begin :]}")


def _applied_before(source: CallSource, made: str, imports: tuple[str, ...]) -> Edit | None:
    use = source.use
    if use is None or use.begins is None or not 0 <= use.argument.begin < use.argument.end <= len(use.text):
        return None
    given = use.argument
    if use.text[use.begins :].startswith(f"{given.text} = "):  # no other name is given another value
        line = f"{given.text} = {made}({given.text})"
        return _edit(source, use.line, use.text, *imports, line, use.text)
    wrapped = f"{use.text[: given.begin]}{made}({given.text}){use.text[given.end :]}"
    return _edit(source, use.line, use.text, *imports, wrapped)


def with_input_through(layer: PassedLayer, at: int, call: str, reach: str | None) -> Edit | None:
    """One of a merging layer's inputs goes through another layer first."""
    source = layer.made
    use = source.use if source is not None else None
    if source is None or use is None or at >= len(use.parts):
        return None
    part, prefix = use.parts[at], _module_of(source) or reach
    if prefix is None or not 0 <= part.begin < part.end <= len(use.text):
        return None
    return _edit(
        source, use.line, use.text, f"{use.text[: part.begin]}{prefix}{call}({part.text}){use.text[part.end :]}"
    )


def before_call(source: CallSource | None, *statements: str) -> Edit | None:
    """Statements before the one that the call begins."""
    text = source.lines[0] if source is not None and source.lines else ""
    if source is None or (source.begin and not _is_assigned(text[: source.begin])):
        return None
    return _edit(source, source.line, text, *statements, text)


def _is_assigned(before: str) -> bool:
    """`history = ` or only indentation stands before the call."""
    name = before.strip().removesuffix("=").strip()
    return not before.strip() or (before.rstrip().endswith("=") and name.isidentifier())


def remedy(does: str, edit: Edit | None, otherwise: str | None = None) -> Remedy:
    """With the edited line; without one, a sketch of it."""
    return Remedy(does, edit.change, edit.where) if edit is not None else Remedy(does, otherwise)


def given_to_fit(network: Network, name: str, position: int) -> str:
    """The variable that fit was given under this name."""
    call = network.call
    found = argument(call, name, position) if call is not None and call.name.endswith(("fit", "evaluate")) else None
    return found.text if found is not None and found.text.isidentifier() else ""


def passed_on(layer: PassedLayer) -> str:
    """The argument input_shape of a first layer, which now is the second."""
    given = argument(layer.made, "input_shape") if layer.made is not None else None
    return f", input_shape={given.text}" if given is not None else ""


def replace_keyword(source: CallSource, given: Argument, new: str) -> Edit | None:
    """A named argument together with its name."""
    text = _line(source, given.line)
    name = f"{given.name}="
    if text is None or not text[: given.begin].endswith(name) or given.end < given.begin:
        return None
    return _edit(source, given.line, text, text[: given.begin - len(name)] + new + text[given.end :])
