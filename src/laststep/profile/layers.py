"""TensorFlow's op names → the names of the user's layers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

LOSS, OPTIMIZER, PIPELINE, OTHER = "(loss)", "(optimizer)", "(input)", "(no layer)"
BACKWARD = ("gradient_tape", "gradients")
SUFFIX = re.compile(r"_\d+$")
# Prefixes that XLA and TensorFlow add to the name given by the program.
WRAPPER = re.compile(r"(Stateful)?PartitionedCall(_\d+)?|jit\(.*\)|transpose\(.*\)|XLA_Args|while|cond(_\d+)?")
LOSSES = re.compile(r"(compile_)?loss|.*(crossentropy|squared_error|absolute_error|hinge|poisson|divergence)")
OPTIMIZERS = re.compile(
    r"(?i)(adam|adamw|adamax|adagrad|adadelta|nadam|sgd|rmsprop|ftrl|lion|lamb|muon|adafactor|loss_?scale_?optimizer)"
)
MAX_DEPTH = 20
MKL = re.compile(r"^_Mkl(Native)?|^_(?=[A-Z])")


@dataclass(eq=False)
class Node:
    """A model or a layer, and its parts."""

    name: str
    path: str = ""
    depth: int = 0
    children: list[Node] = field(default_factory=list)
    scopes: dict[str, Node] = field(default_factory=dict)  # scope in TensorFlow → child


def tree(rows: Iterable[tuple[int, str]]) -> Node:
    """From the recorder's rows: the position of the parent or -1, and the name."""
    root = Node("")
    nodes: list[Node] = []
    for position, name in rows:
        parent = nodes[position] if 0 <= position < len(nodes) else root
        # The name of the only model is left out: dense_1, not sequential/dense_1.
        path = f"{parent.path}/{name}" if parent.depth > 1 else name
        node = Node(name, path, parent.depth + 1)
        nodes.append(node)
        if parent.depth < MAX_DEPTH:
            parent.children.append(node)
    return root


class Layers:
    """The layer of each op. TensorFlow makes scopes unique: the scope of layer `dense` may be `dense_1`."""

    def __init__(self, root: Node, ops: Iterable[str], optimizers: Sequence[str] = ()) -> None:
        self._root = root
        self._optimizers = set(optimizers)
        self._known: dict[str, tuple[str, bool]] = {}
        paths = [[part for part in name.split("/") if part] for name in set(ops)]
        _learn(root, paths)
        # If a program calls the layers directly, the name of the model is not in the scopes.
        inner = Node("", children=[child for model in root.children for child in model.children])
        _learn(inner, [path for path in paths if not any(part in root.scopes for part in path)])
        self._inner = inner

    def of(self, name: str) -> tuple[str, bool]:
        """(the layer's path, whether this is its backward pass)"""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._find(name)
        return found

    def _find(self, name: str) -> tuple[str, bool]:
        parts = [part for part in name.split("/") if part]
        backward = any(part in BACKWARD or part.startswith("transpose(") for part in parts)
        node = _descend(self._root, parts) or _descend(self._inner, parts)
        return (node.path, backward) if node is not None else (self._outside(parts), backward)

    def _outside(self, parts: list[str]) -> str:
        scopes = [SUFFIX.sub("", part) for part in parts[:-1] if not WRAPPER.fullmatch(part) and part not in BACKWARD]
        if any(scope in self._optimizers or OPTIMIZERS.fullmatch(scope) for scope in scopes):
            return OPTIMIZER
        return LOSS if any(LOSSES.fullmatch(scope) for scope in scopes) else OTHER


def _learn(node: Node, paths: list[list[str]]) -> None:
    """Assign the scopes in the trace to the children."""
    if not node.children:
        return
    seen = {part for path in paths for part in path}
    node.scopes.update(_match(node.children, seen))
    for child in node.children:
        own = [scope for scope, owner in node.scopes.items() if owner is child]
        inside = [path[path.index(scope) + 1 :] for path in paths for scope in own if scope in path]
        _learn(child, inside)


def _match(children: list[Node], seen: set[str]) -> dict[str, Node]:
    """dense, dense_1 → dense_1, dense_1_2: a scope that fits only one layer is assigned first."""
    names = {child.name: child for child in children}
    possible: dict[str, list[str]] = {}
    for scope in seen:
        short = SUFFIX.sub("", scope)
        fits = [name for name in dict.fromkeys((scope, short)) if name in names]
        if fits:
            possible[scope] = fits
    found: dict[str, Node] = {}
    taken: set[str] = set()
    for scope in sorted(possible, key=lambda scope: (len(possible[scope]), len(scope), scope)):
        fits = possible[scope]
        chosen = next((name for name in fits if name not in taken), fits[0])
        taken.add(chosen)
        found[scope] = names[chosen]
    return found


def _descend(node: Node, parts: list[str]) -> Node | None:
    """The innermost layer along the op's scopes; the last part is the op itself, unless a layer has that name."""
    found: Node | None = None
    for part in parts:
        child = node.scopes.get(part)
        if child is not None:
            node = found = child
    return found


def op_type(kind: str) -> str:
    """_MklNativeFusedMatMul → FusedMatMul"""
    return MKL.sub("", kind) or kind
