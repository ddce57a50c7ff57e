#!/usr/bin/env python3
"""Writes docs/reference/python-api.md, the API of the package, from its docstrings.

    python-shim/api_page.py

Takes a Python with the package's dependencies. A test compares the page with the docstrings.
"""

import importlib
import inspect
import pathlib
import re
import sys

SHIM = pathlib.Path(__file__).resolve().parent
PAGE = SHIM.parent / "docs" / "reference" / "python-api.md"

#: The modules on the page that everybody can import; torch's needs torch.
MODULES = ("spark_collectives", "spark_collectives.elastic")

_FIELD = re.compile(r"^:(param|return|raises)\s*([^:]*):\s*", re.MULTILINE)
#: What many functions have in common, which the head of the page describes.
_COMMON = re.compile(
    r"^:(?:raises ObjectSerializationError"
    r"|param (?:(?:group_)?(?:src|dst)|tag|device|device_ids?|pg_options)):.*\n(?:[ ]+.*\n)*"
    r"|^:param group: by default the world group\n"
    r"|^:param tensor: of the same type and number of elements on all ranks\n",
    re.MULTILINE,
)
_ROLE = re.compile(r":\w+:`~?([^`]+)`")


def markdown(docstring):
    """Return a docstring as Markdown: fields as a list, literal blocks as they are."""
    text = _COMMON.sub("", inspect.cleandoc(docstring or "") + "\n").rstrip()
    text = _ROLE.sub(lambda match: f"`{match[1].rpartition('.')[2]}`", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    text = re.sub(r"^::\n\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
    text = re.sub(r"^>>> ", "    ", text, flags=re.MULTILINE)

    def item(match):
        kind, name = match[1], match[2].strip()
        if kind == "param":
            return f"* `{name}`: "
        return "* Returns " if kind == "return" else f"* Raises `{name or 'an error'}`: "

    lines, in_list = [], False
    for line in _FIELD.sub(item, text).split("\n"):
        if line.startswith("* ") and not in_list and lines and lines[-1]:
            lines.append("")
        in_list = line.startswith("* ") or (in_list and line.startswith("    "))
        # The further lines of an item of a list, not of a block.
        lines.append("  " + line.strip() if in_list and line.startswith("    ") else line)
    return "\n".join(lines).strip()


def signature(function, skip_first=False):
    """Return the parameters of a function, with their defaults."""
    found = []
    kinds = inspect.Parameter
    parameters = list(inspect.signature(function).parameters.values())[1 if skip_first else 0 :]
    starred = False
    for each in parameters:
        if each.kind is kinds.KEYWORD_ONLY and not starred:
            found.append("*")
        starred |= each.kind in (kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL)
        stars = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is kinds.empty else f"={_value(each.default)}"
        found.append(f"{stars}{each.name}{default}")
    return f"({', '.join(found)})"


def _value(default):
    if type(default).__name__ == "ReduceOp":
        return f"ReduceOp.{str(default).rpartition('.')[2]}"
    return getattr(default, "__name__", None) or repr(default)


def members(kind):
    """Yield the public methods and properties of a class of the package, and their names.

    Those that it has from another class on the page stand there.
    """
    public = importlib.import_module(MODULES[0]).__all__
    bases = [each for each in kind.__mro__[1:] if each.__name__ in public]
    for name in sorted(dir(kind)):
        owner = next(each for each in kind.__mro__ if name in vars(each) or each is object)
        if name.startswith("_") or not owner.__module__.startswith("spark_collectives"):
            continue
        found = inspect.getattr_static(kind, name)
        if any(inspect.getattr_static(each, name, None) is found for each in bases):
            continue
        if isinstance(found, (staticmethod, classmethod)):
            yield name, found.__func__
        elif inspect.isfunction(found) or isinstance(found, property):
            yield name, found


def described(name, thing):
    """Yield the paragraphs on one public name of a module."""
    if inspect.isclass(thing):
        # One whose parameters are described is for callers to make.
        made = signature(thing) if ":param" in (thing.__doc__ or "") else ""
        yield f"### class `{name}{made}`"
        # One without a docstring would inherit its base's.
        yield markdown(thing.__doc__)
        for method, found in members(thing):
            if isinstance(found, property):
                yield f"#### `{name}.{method}`"
                yield markdown(found.fget.__doc__)
            else:
                static = isinstance(inspect.getattr_static(thing, method), staticmethod)
                yield f"#### `{name}.{method}{signature(found, skip_first=not static)}`"
                yield markdown(found.__doc__)
    elif callable(thing):
        yield f"### `{name}{signature(thing)}`"
        yield markdown(thing.__doc__)
    else:
        # A constant, or an object whose class says what it is.
        text = type(thing).__doc__ if type(thing).__module__ != "builtins" else ""
        yield f"### `{name}`"
        yield markdown(text) or f"A constant of torch.distributed: {thing}."


def page():
    """Return the page."""
    parts = [
        "# API of the Python package",
        "For Python developers: every public name. Written by `python-shim/api_page.py` from the "
        "docstrings. [Python](../guide/python.md) is the guide.",
        "Arrays are numpy's, or tensors of torch on the CPU, of the same type and number of "
        "elements on all ranks unless a call says otherwise. A call blocks until its operation is "
        "done on this rank, or its timeout is over; with `async_op=True` it returns a `Work` at "
        "once. The errors are those of [the guide](../guide/python.md#errors).",
        "Parameters of many functions:",
        "* `group`: by default the world group\n"
        "* `src`, `dst`: a rank of the world group; `group_src`, `group_dst`: a rank of `group`. "
        "Give one of the two. By default the root of gathers, scatters and broadcasts of objects "
        "is rank 0 of `group`, and a receive takes what is sent first\n"
        "* `tag`: 0 or more; a receive takes messages of its tag\n"
        "* `device`, `device_id`: None or the CPU; `pg_options`, and `device_ids`: None",
        "Functions of objects raise `ObjectSerializationError` where another rank cannot pickle "
        "its object; the group goes on.",
    ]
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        parts += [f"## {module_name}", markdown(module.__doc__)]
        for name in sorted(module.__all__, key=lambda each: (each.lower(), each)):
            parts += described(name, getattr(module, name))
    return "\n\n".join(filter(None, parts)) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(SHIM / "src"))
    PAGE.write_text(page(), encoding="utf-8")
