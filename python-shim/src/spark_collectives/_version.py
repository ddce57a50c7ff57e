"""The version of this package, and its comparison with that of the plugin's jar."""

from __future__ import annotations

from importlib import metadata
from typing import Optional


def own() -> Optional[str]:
    """Return the version of this package, or None if it runs from its sources."""
    try:
        return metadata.version("spark-collectives")
    except metadata.PackageNotFoundError:
        return None


def in_pythons_notation(jar: str) -> str:
    """Return a jar's version as its wheel has it: ``0.1.0-SNAPSHOT`` is ``0.1.0.dev0``."""
    return jar.replace("-SNAPSHOT", ".dev0").replace("-", "")


def difference(jar: Optional[str], where: str) -> Optional[str]:
    """Return what is wrong if the jar is of another version than this package, else None.

    :param jar: the version in the jar's manifest; None if it has none, as classes in a folder
    :param where: the JVM that has the jar
    """
    package = own()
    if jar is None or package is None or in_pythons_notation(jar) == package:
        return None
    return (
        f"{where} has the jar of version {jar}, and this process the package spark-collectives of "
        f"version {package}: install the package and the jar of the same release"
    )
