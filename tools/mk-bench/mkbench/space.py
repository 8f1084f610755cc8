"""What the tuner tries: values for each parameter and constraints between them, from
share/mkernel/tuning/space.json, or the choices that the kernel's file lists."""
import ast
import itertools
import json
import operator

from .errors import BenchError

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne}


def evaluate(text, names):
    """Integer arithmetic, comparisons, and/or/not over parameters and sizes; no
    more of Python than that."""
    def visit(node):
        if isinstance(node, ast.Expression):
            return visit(node.body)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            if node.id not in names:
                raise BenchError(f"constraint '{text}'",
                                 f"there is no '{node.id}'; there are "
                                 + ", ".join(sorted(names)))
            return names[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](visit(node.left),
                                            visit(node.right))
        if isinstance(node, ast.BoolOp):
            values = map(visit, node.values)
            return all(values) if isinstance(node.op, ast.And) else any(values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not visit(node.operand)
        if isinstance(node, ast.Compare):
            left, good = visit(node.left), True
            for op, right in zip(node.ops, map(visit, node.comparators)):
                good, left = good and OPERATORS[type(op)](left, right), right
            return good
        raise BenchError(f"constraint '{text}'",
                         "only integers, names, + - * // %, comparisons, "
                         "and, or, not")
    try:
        return visit(ast.parse(text, mode="eval"))
    except SyntaxError as error:
        raise BenchError(f"constraint '{text}'", error.msg) from error


class ModelSpace:
    """What the compiler's cost model takes for the fastest: a few sets of parameters for each case,
    where a space of its own has hundreds."""
    PREFIX = "model:"

    def __init__(self, text):
        number = text.removeprefix(self.PREFIX)
        if not number.isdigit() or not 1 <= int(number) <= 64:
            raise BenchError(f"--space {text}", "the number of candidates is not from 1 to 64",
                             "write model:8")
        self.number = int(number)

    @staticmethod
    def take(case, found):
        """The sets of what `interface` has found."""
        candidates = found["model"].get("candidates")
        if not candidates:
            raise BenchError(case.name, "the cost model has no candidates"
                             + (f": {found['model']['why']}" if "why" in found["model"] else ""),
                             "list choices in the kernel's file (mk.param ... in [...]), or give a "
                             "space in a file")
        return [candidate["set"] for candidate in candidates]


class Space:
    """The parameters of some kernels."""

    def __init__(self, data):
        self.kernels = data["kernels"]
        self.params = data["params"]
        self.constraints = data.get("constraints", [])

    def configurations(self, dims):
        """Every assignment that the constraints allow, in a fixed order."""
        names = list(self.params)
        result = []
        for values in itertools.product(*self.params.values()):
            chosen = dict(zip(names, values))
            if all(evaluate(c, {**dims, **chosen}) for c in self.constraints):
                result.append(chosen)
        return result


def load_spaces(path):
    try:
        with open(path, encoding="utf-8") as file:
            return [Space(entry) for entry in json.load(file)["spaces"]]
    except (OSError, ValueError, KeyError) as error:
        raise BenchError(f"space {path}", repr(error)) from error


def find_space(spaces, kernel, path, choices):
    """`choices`: what the kernel's file lists, by parameter."""
    for space in spaces:
        if kernel in space.kernels:
            return space
    if not choices:
        raise BenchError(f"kernel '{kernel}'", f"{path} has no space for it, and its file lists "
                         "no choices", "add a space with values for each of its parameters, or "
                         "list choices there: mk.param ... in [...]")
    return Space({"kernels": [kernel], "params": choices})
