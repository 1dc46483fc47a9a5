"""How much code there is: ``python tests/repository/code_lines.py src/fairtest`` counts it by package.

A line counts if it holds something besides a comment; docstrings and blank lines do not count.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path
from typing import TypeAlias

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
NO_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def count_code(text: str) -> int:
    """Return the lines of code of a module.

    Examples
    --------
    >>> count_code('"Docstring."\\n\\nx = 1  # why\\n# more\\n')
    1
    """
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - {line for part in find_docstrings(ast.parse(text)) for line in lines_of(part)})


def find_docstrings(tree: ast.Module) -> list[ast.Expr]:
    """Return the docstrings of a module, its classes and functions, and the strings below its constants and fields."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | Definition):
            found += [each for each in node.body if is_text(each)]
    return found


def is_text(node: ast.AST) -> bool:
    """Whether a statement is a string that nobody uses: a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def lines_of(node: ast.stmt) -> range:
    """Return the lines of a statement."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def count_by_package(root: Path) -> Counter[str]:
    """Return the lines of code of each package below a folder; modules of the folder itself by their names."""
    lines: Counter[str] = Counter()
    for path in sorted(root.rglob("*.py")):
        lines[path.relative_to(root).parts[0]] += count_code(path.read_text(encoding="utf-8"))
    return lines


if __name__ == "__main__":
    counted = count_by_package(Path(sys.argv[1]))
    for name, number in sorted(counted.items()):
        print(f"{name:20} {number:7,}")
    print(f"{'all':20} {counted.total():7,}")
