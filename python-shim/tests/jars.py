"""What each published jar must have, whatever is in it."""

import zipfile


def names(path):
    with zipfile.ZipFile(path) as jar:
        return [name for name in jar.namelist() if not name.endswith("/")]


def text(path, name):
    with zipfile.ZipFile(path) as jar:
        return jar.read(name).decode()


def manifest(path):
    """Return the main attributes, with continued lines joined."""
    joined = text(path, "META-INF/MANIFEST.MF").replace("\r\n", "\n").replace("\n ", "")
    return dict(line.split(": ", 1) for line in joined.splitlines() if ": " in line)


def check_licence(path):
    assert "Apache License" in text(path, "META-INF/LICENSE"), path
    assert "Copyright 2026 The Spark Collectives authors" in text(path, "META-INF/NOTICE"), path
    assert names(path).count("META-INF/LICENSE") == names(path).count("META-INF/NOTICE") == 1


def check_classes(path, version, module):
    """Check a jar of classes: they are all of this project, and the manifest names the version."""
    classes = [name for name in names(path) if name.endswith(".class")]
    assert classes
    assert [name for name in classes if not name.startswith("org/sparkcollectives/")] == []
    attributes = manifest(path)
    assert attributes["Implementation-Title"].startswith("Spark Collectives: ")
    assert attributes["Implementation-Version"] == version
    assert attributes["Automatic-Module-Name"] == module
    check_licence(path)
