"""Takes the version from the plugin's jar, and builds no package without its jars.

Metadata that does not depend on the jars is in pyproject.toml.
"""

import gzip
import io
import os
import re
import tarfile
import zipfile
from pathlib import Path

from setuptools import setup
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
#: What the Maven build puts here.
NEEDED = (
    "src/spark_collectives/jars/spark-collectives_2.13.jar",
    "src/spark_collectives/jars/spark-collectives-ml.jar",
    "LICENSE",
    "NOTICE",
)


def version() -> str:
    """Return the jar's version, in Python's notation: ``0.1.0-SNAPSHOT`` is ``0.1.0.dev0``."""
    missing = [name for name in NEEDED if not (HERE / name).is_file()]
    if missing:
        raise SystemExit(
            f"The package cannot be built, because {' and '.join(missing)} is missing in {HERE}: "
            "run ./mvnw -DskipTests package in the root of the repository first, which puts "
            "the jars and their licence there"
        )
    with zipfile.ZipFile(HERE / NEEDED[0]) as jar:
        manifest = jar.read("META-INF/MANIFEST.MF").decode()
    found = re.search(r"^Implementation-Version: *(\S+)", manifest, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{HERE / NEEDED[0]} has no Implementation-Version in its manifest")
    return found.group(1).replace("-SNAPSHOT", ".dev0").replace("-", "")


class ReproducibleSdist(sdist):
    """Writes the same archive again if ``SOURCE_DATE_EPOCH`` is set, as wheels do by themselves."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **others):
        """Write the archive of the folder ``base_dir``, and return its name."""
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        if epoch is None or format != "gztar":
            return super().make_archive(base_name, format, root_dir, base_dir, **others)

        def normal(entry: tarfile.TarInfo) -> tarfile.TarInfo:
            entry.mtime = int(epoch)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            return entry

        content = io.BytesIO()
        # The data of the examples are links to files of the repository.
        with tarfile.open(
            fileobj=content, mode="w", format=tarfile.PAX_FORMAT, dereference=True
        ) as archive:
            archive.add(os.path.join(root_dir or "", base_dir), base_dir, filter=normal)
        name = base_name + ".tar.gz"
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        with open(name, "wb") as file, gzip.GzipFile("", "wb", 9, file, int(epoch)) as packed:
            packed.write(content.getvalue())
        return name


setup(version=version(), cmdclass={"sdist": ReproducibleSdist})
