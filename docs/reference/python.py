"""Writes docs/reference/python.md: the README of the Python client, then every public name with its signature and its docstring."""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CLIENT = ROOT / "gateway" / "python"
SOURCES = CLIENT / "src" / "nodeloom"
PAGE = ROOT / "docs" / "reference" / "python.md"
# Members of the client that are objects.
RESOURCES = SOURCES / "_resources.py"
# Types of bodies, which the pages of the API describe.
API_TYPES = "_types"
SECTIONS = {"Args:": "Arguments:", "Attributes:": "Members:", "Raises:": "Raises:"}
LINE_CHARS = 100
ARGUMENT = re.compile(r"^ {4}(\w+): (.*)$")


def docstring(node: ast.AST) -> str:
    """A docstring as Markdown: sections of arguments, members and errors become lists."""
    text = inspect.cleandoc(ast.get_docstring(node) or "")
    lines: list[str] = []
    for line in text.split("\n"):
        argument = ARGUMENT.match(line)
        if line in SECTIONS:
            lines.append(f"{SECTIONS[line]}\n")
        elif argument:
            lines.append(f"- `{argument[1]}`: {argument[2]}")
        elif line.startswith("    ") and lines[-1].startswith(("- ", "  ")):
            lines.append(f"  {line.strip()}")
        else:
            lines.append(line.strip())
    return "\n".join(lines).strip()


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "property" for one in function.decorator_list)


def parameters(arguments: ast.arguments) -> list[str]:
    """The parameters of a function as they are written, without `self`."""
    named = [one for one in arguments.args if one.arg != "self"]
    first = len(named) - len(arguments.defaults)
    written = [with_default(one, arguments.defaults[at - first] if at >= first else None) for at, one in enumerate(named)]
    if arguments.kwonlyargs:
        written.append("*")
    written += [with_default(one, default) for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    if arguments.kwarg:
        written.append(f"**{ast.unparse(arguments.kwarg)}")
    return written


def with_default(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) if default is None else f"{ast.unparse(argument)} = {ast.unparse(default)}"


def signature(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> str:
    """A function's head, a parameter on each line where it would be long."""
    if is_property(function):
        return f"{name}: {ast.unparse(function.returns)}" if function.returns else name
    returns = f" -> {ast.unparse(function.returns)}" if function.returns and function.name != "__init__" else ""
    written = parameters(function.args)
    short = f"{name}({', '.join(written)}){returns}"
    if len(short) <= LINE_CHARS:
        return short
    return f"{name}(\n" + "".join(f"    {one},\n" for one in written) + f"){returns}"


def declared(code: str) -> str:
    return f"```python declaration\n{code}\n```\n"


def is_public(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_")


def parts(*texts: str) -> str:
    return "\n".join(f"{text}\n" for text in texts if text)


def methods(node: ast.ClassDef, prefix: str) -> list[str]:
    functions = [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_public(one)]
    return [parts(f"### {prefix}{one.name}", declared(signature(one, one.name)), docstring(one)) for one in functions]


def class_section(node: ast.ClassDef) -> str:
    """A class: how it is made, or what its fields are."""
    init = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
    fields = [ast.unparse(one) for one in node.body if isinstance(one, ast.AnnAssign)]
    head = signature(init, f"class {node.name}") if init else f"class {node.name}" + "".join(f"\n    {field}" for field in fields)
    return parts(f"## {node.name}", docstring(node), declared(head), *methods(node, ""))


def group_sections(resources: ast.Module, client: ast.ClassDef) -> list[str]:
    """Members of the client that are objects: `client.workflows.list()`."""
    classes = {one.name: one for one in resources.body if isinstance(one, ast.ClassDef)}
    init = next(one for one in client.body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
    sections: list[str] = []
    for statement in init.body:
        match = re.match(r"self\.(\w+) = (\w+)\(self\)$", ast.unparse(statement))
        if match and match[2] in classes:
            group = classes[match[2]]
            sections.append(parts(f"## client.{match[1]}", docstring(group), *methods(group, f"{match[1]}.")))
    return sections


def generate() -> str:
    exported = ast.parse((SOURCES / "__init__.py").read_text())
    modules = {
        alias.name: statement.module or ""
        for statement in exported.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    trees = {module: ast.parse((SOURCES / f"{module}.py").read_text()) for module in set(modules.values())}
    bodies = sorted(name for name, module in modules.items() if module == API_TYPES)
    sections: list[str] = []
    client_tree = trees[modules["Nodeloom"]]
    client = next(one for one in client_tree.body if isinstance(one, ast.ClassDef) and one.name == "Nodeloom")
    sections += [class_section(client), *group_sections(ast.parse(RESOURCES.read_text()), client)]
    sections.append(
        parts(
            "## AsyncNodeloom",
            "The same for `asyncio`: its methods are awaited, and `events` and `stream` (an `AsyncTextStream`) are asynchronous iterators.",
        )
    )
    for name, module in sorted(modules.items()):
        if module == API_TYPES or module == "_async_client" or name == "Nodeloom":
            continue
        for node in trees[module].body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                sections.append(class_section(node))
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
                sections.append(parts(f"## {name}", declared(signature(node, name)), docstring(node)))
    readme = (CLIENT / "README.md").read_text().replace("# nodeloom", "# The Python client", 1)
    return "\n".join(
        [
            readme.strip() + "\n",
            "Below are all public names, written by `python3 docs/reference/python.py` from the client's sources.\n",
            *sections,
            "## Types of bodies\n",
            "These are typed dictionaries, described with the operations at `/docs/api/schemas`: "
            + ", ".join(f"`{name}`" for name in bodies)
            + ".\n",
        ]
    )


def tidy(text: str) -> str:
    """As prettier would leave it: one blank line between blocks, one newline at the end."""
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


if __name__ == "__main__":
    page = tidy(generate())
    if page != PAGE.read_text():
        if os.environ.get("GENERATED") == "check":
            sys.exit("docs/reference/python.md is out of date: run npm run generate")
        PAGE.write_text(page)
