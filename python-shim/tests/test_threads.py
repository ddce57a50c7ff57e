"""The threads of the package: the name of each says whose it is."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "spark_collectives"

#: What starts a thread; no mention but a call with a name: a subclass or a variable would hide one.
STARTERS = (
    *("Thread", "InheritableThread", "Timer", "start_new_thread"),
    *("ThreadPool", "ThreadPoolExecutor"),
)

#: The package's own classes that start some, by the name that they get first.
OWN = ("Completions", "_Threads")

#: Names that are handed down, by the file.
GIVEN = {"_completions.py": ("name", "self._name")}


def nameless(source, given=()):
    """Return what may start a thread whose name does not begin with ``collectives-``."""
    tree = ast.parse(source)
    calls = {node.func: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = []
    for node in ast.walk(tree):
        kind = getattr(node, "attr", None) or getattr(node, "id", None)
        if kind not in STARTERS + OWN or ast.unparse(node).startswith("jvm."):
            continue
        call = calls.get(node)
        if call or kind in STARTERS:
            names = call.args[:1] if call and kind in OWN else _keywords(call)
            if not any(_is_of_the_package(name) or ast.unparse(name) in given for name in names):
                found.append(ast.unparse(call or node))
    return found


def _keywords(call):
    names = ("name", "thread_name_prefix")
    return [each.value for each in call.keywords if each.arg in names] if call else []


def _is_of_the_package(name):
    begin = name.values[0] if isinstance(name, ast.JoinedStr) else name
    return str(getattr(begin, "value", "")).startswith("collectives-")


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_every_thread_has_a_name_of_the_package(path):
    assert nameless(path.read_text(), GIVEN.get(path.name, ())) == []


@pytest.mark.parametrize(
    "source",
    [
        "threading.Thread(target=run)",
        "Thread(target=run, name='reports')",
        "Thread(target=run, name=f'{group}-collectives-')",
        "Thread(target=run, name=name)",
        "thread = InheritableThread",
        "class Own(threading.Thread): pass",
        "threading.Timer(1, run)",
        "_thread.start_new_thread(run, ())",
        "Completions(f'futures-{group}')",
    ],
)
def test_a_thread_without_such_a_name_is_seen(source):
    assert len(nameless(source)) == 1
