"""Publishes the project twice into folders, from two copies of the working tree."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SPARK_3_5 = "3.5.9"
#: The time of the release's commit, for Python's archives and for Maven's.
EPOCH = "1790000000"
TIMESTAMP = datetime.fromtimestamp(int(EPOCH), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.publication)


def run(*command, cwd, fails=False, **environment):
    """Run a command, and return what it writes."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert (done.returncode != 0) == fails, done.stdout[-10_000:]
    return done.stdout


@dataclass
class Publication:
    """A copy of the tree, and the folder into which it was published."""

    tree: Path
    repository: Path
    version: str

    def maven(self, *arguments, fails=False, **environment):
        # The compiler's checks and the format are those of every build.
        return run(
            "./mvnw",
            "-Dspotless.check.skip",
            *arguments,
            cwd=self.tree,
            fails=fails,
            **environment,
        )

    def set_version(self, version):
        self.version = version
        self.maven(
            "-q",
            "versions:set",
            f"-DnewVersion={version}",
            "-DprocessAllModules",
            "-DgenerateBackupPoms=false",
            "-DupdateBuildOutputTimestampPolicy=never",
        )

    def deploy(self, *arguments, repository=None, **environment):
        target = f"staging::{(repository or self.repository).as_uri()}"
        return self.maven(
            "-Prelease",
            "deploy",
            f"-DaltDeploymentRepository={target}",
            f"-Dproject.build.outputTimestamp={TIMESTAMP}",
            *arguments,
            **environment,
        )

    def artifact(self, name, suffix):
        folder = self.repository / "org/sparkcollectives" / name / self.version
        return folder / f"{name}-{self.version}{suffix}"

    def files(self):
        """Return what is published, by path; Maven's lists of versions have the time in them."""
        return {
            path.relative_to(self.repository).as_posix(): path
            for path in sorted(self.repository.rglob("*"))
            if path.is_file() and not path.name.startswith("maven-metadata")
        }


def copy_of_the_tree(to):
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    return to


def published(folder):
    tree = copy_of_the_tree(folder / "tree")
    pom = (tree / "pom.xml").read_text()
    version = re.search(r"<version>(.*?)-SNAPSHOT</version>", pom).group(1)
    made = Publication(tree, folder / "repository", version)
    made.set_version(version)
    made.deploy()
    return made


@pytest.fixture(scope="session")
def publication(tmp_path_factory):
    """The release that this tree would be, by the commands of the release workflow."""
    return published(tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="session")
def another_publication(tmp_path_factory, publication):
    """The same once more, from a folder with another and longer name."""
    return published(tmp_path_factory.mktemp("the-same-once-more"))


def packages(publication, folder):
    """Build the wheel and the source distribution of the Python package."""
    source = publication.tree / "python-shim"
    shutil.rmtree(source / "build", ignore_errors=True)
    environment = {"SOURCE_DATE_EPOCH": EPOCH}
    for kind in ("wheel", "sdist"):
        build = f"from setuptools import build_meta; build_meta.build_{kind}({str(folder)!r})"
        run(sys.executable, "-c", build, cwd=source, **environment)
    return {path.name: path for path in sorted(folder.iterdir())}


@pytest.fixture(scope="session")
def wheels(publication, tmp_path_factory):
    return packages(publication, tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="session")
def spark_3_5():
    """The home of a Spark on Scala 2.12, which is installed once."""
    home = ROOT / "python-shim/target" / f"spark-{SPARK_3_5}"
    if not (home / "pyspark/bin/spark-submit").exists():
        wanted = f"pyspark=={SPARK_3_5}"
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps")
        run(*pip, "--target", home, wanted, cwd=ROOT)
    return home / "pyspark"


@pytest.fixture(scope="session")
def spark_4():
    import pyspark

    return Path(pyspark.__file__).parent
