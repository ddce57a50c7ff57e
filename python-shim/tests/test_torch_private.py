"""The names that torch keeps to itself, and the versions of torch that have them."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

from spark_collectives.torch import private

SHIM = Path(__file__).parents[1]
PACKAGE = SHIM / "src" / "spark_collectives"


def _private(name):
    return name.startswith("_") and not name.endswith("__")


def _own_names():
    """Return the private names that the package itself defines."""
    found = {path.stem for path in PACKAGE.rglob("*.py")}
    for path in PACKAGE.rglob("*.py"):
        if path == PACKAGE / "torch" / "private.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.update([node.attr] if getattr(node.value, "id", "") == "self" else [])
    return found


def _touched(path):
    """Yield the private names that a file takes from elsewhere."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and _private(node.attr):
            yield node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch"):
            yield from (each.name for each in node.names if _private(each.name))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr"):
            name = getattr(node.args[1], "value", "")
            if _private(str(name)):
                yield name


def test_private_names_of_torch_are_touched_in_one_file():
    own = _own_names()
    for path in sorted((PACKAGE / "torch").glob("*.py")):
        foreign = set(_touched(path)) - own
        assert (path.name == "private.py") == bool(foreign), (path.name, foreign)


@pytest.mark.parametrize("version", ["2.7.0", "2.15.1+cpu", "2.9.0a0+gitdeadbee"])
def test_a_version_that_was_tested_is_taken_without_a_word(version, recwarn):
    private.check(version)
    assert not recwarn


@pytest.mark.parametrize("version", ["2.3.1", "1.13.1+cpu"])
def test_a_version_that_is_too_old_is_refused(version):
    words = rf"needs torch 2\.7 or later, and this is torch {re.escape(version)}"
    with pytest.raises(ImportError, match=words):
        private.check(version)


@pytest.mark.parametrize("version", ["2.16.0.dev20261201+cu132", "3.0"])
def test_a_version_that_is_newer_than_the_newest_that_was_tested_is_told(version):
    words = rf"torch {re.escape(version)} is newer than 2\.15, the newest .* tested"
    with pytest.warns(UserWarning, match=words):
        private.check(version)


@pytest.mark.parametrize("module, name", private.NEEDED)
def test_a_version_that_lacks_a_name_is_refused_with_the_name(module, name, monkeypatch):
    owner = private.find(module)
    monkeypatch.delattr(owner, name)
    words = rf"torch 2\.17\.0 is too new .*{re.escape(f'{module}.{name}')}.*2\.7 to 2\.15"
    with pytest.raises(ImportError, match=words), pytest.warns(UserWarning):
        private.check("2.17.0")


IMPORTS = """
import warnings
import torch
import torch.distributed.distributed_c10d as c10d

def attempt(version):
    torch.__version__ = version
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            import spark_collectives.torch
            print("imported", *(each.message for each in told))
        except ImportError as e:
            print("refused:", e)

attempt("2.6.0")
world = c10d._World
del c10d._World
attempt("2.17.0")
c10d._World = world
attempt("2.17.0")
"""


def test_the_import_says_which_torch_is_too_old_or_too_new():
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTS], capture_output=True, text=True, timeout=300
    )
    old, without, new = ran.stdout.splitlines() or [ran.stderr] * 3
    assert old.startswith("refused: ") and "2.7 or later" in old
    assert without.startswith("refused: ") and "distributed_c10d._World" in without
    assert new.startswith("imported torch 2.17.0 is newer than 2.15")


def test_the_pages_and_the_package_name_the_oldest_version():
    oldest = ".".join(map(str, private.OLDEST))
    assert f'torch = ["torch>={oldest}"]' in (SHIM / "pyproject.toml").read_text()
    assert f"torch {oldest} or later" in (SHIM.parent / "docs" / "guide" / "torch.md").read_text()
    assert f"torch {oldest} or later" in (PACKAGE / "torch" / "__init__.py").read_text()
