"""What the pages tell a new user to do, as it stands there, with what would be published."""

import json
import os
import re
import shlex
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest

from processes import eventually
from publication.conftest import copy_of_the_tree, run
from samples import samples

PAGES = ("README.md", "docs/get-started/install.md")
FOLDER = "/tmp/spark-collectives"
PLUGIN = "org.sparkcollectives:spark-collectives_2.13:"
SHELL_SECONDS = 300
TAB_SECONDS = 120


def commands(program):
    """Return the pages' commands of a program, from top to bottom, as lists of words."""
    text = "\n".join(sample.code for page in PAGES for sample in samples(page, "sh"))
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if line.split()[:1] == [program]]


def deployments():
    """Return the pages' commands that publish into a folder; none after the first release."""
    return [each for each in commands("./mvnw") if any(FOLDER in word for word in each)]


def shell_that_downloads():
    """Return the pages' one command of a shell that gets the plugin from a repository."""
    found = commands("spark-shell")
    (command,) = (each for each in found if any(word.startswith(PLUGIN) for word in each))
    return command


class Shell:
    """A shell of Spark that begins with an empty Ivy cache."""

    def __init__(self, spark, command, folder):
        (folder / "home").mkdir()
        self.output = folder / "output.txt"
        own = ["spark.ui.port=0", f"spark.jars.ivy={folder / 'ivy'}"]
        options = [word for setting in own for word in ("--conf", setting)]
        environment = {
            "SPARK_HOME": str(spark),
            "SPARK_LOCAL_IP": "127.0.0.1",
            # Ivy looks into the repository of the user's Maven first.
            "SPARK_SUBMIT_OPTS": f"-Duser.home={folder / 'home'}",
        }
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [spark / "bin" / command[0], *command[1:], *options],
                cwd=folder,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
            )

    def type(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def said(self, pattern):
        """Wait until the shell has written something."""

        def look():
            text = self.output.read_text()
            assert self.process.poll() is None, text[-10_000:]
            return re.search(pattern, text)

        return eventually(self.output.read_text, SHELL_SECONDS, look)

    def leave(self):
        self.process.stdin.close()
        try:
            self.process.wait(120)
        finally:
            self.process.kill()


def page(address):
    with urllib.request.urlopen(address, timeout=60) as response:
        return response.read().decode()


def check_the_tab(ui):
    def ended():
        groups = json.loads(page(f"{ui}/collectives/json"))["groups"]
        return [group for group in groups if group["state"] == "CLOSED"]

    groups = eventually(lambda: page(f"{ui}/collectives/json"), TAB_SECONDS, ended)
    assert [(group["size"], group["operations"]) for group in groups] == [(4, 4)]
    assert groups[0]["name"] in page(f"{ui}/collectives/")


def try_the_shell(spark, command, folder):
    """Run the README's lines of Scala, and look at the tab."""
    shell = Shell(spark, command, folder)
    try:
        ui = shell.said(r"Web UI available at (\S+)").group(1)
        shell.type(samples("README.md", "scala")[0].code)
        for rank in range(4):
            shell.said(rf"rank {rank} of 4: 36\.0")
        check_the_tab(ui)
    finally:
        shell.leave()


def test_the_shell_of_the_readme_gets_the_release(publication, spark_4, tmp_path):
    command = shell_that_downloads()
    (package,) = (word for word in command if word.startswith(PLUGIN))
    options = {package: PLUGIN + publication.version}
    if deployments():
        options[Path(FOLDER).as_uri()] = publication.repository.as_uri()
    else:
        command += ["--repositories", publication.repository.as_uri()]
    try_the_shell(spark_4, [options.get(word, word) for word in command], tmp_path)
    names = [path.name for path in (tmp_path / "ivy/jars").iterdir()]
    jar = f"org.sparkcollectives_spark-collectives_2.13-{publication.version}.jar"
    assert names == [jar]


def test_maven_gets_the_release_by_the_lines_of_the_page(publication, tmp_path):
    (dependency,) = (sample.code for sample in samples("docs/get-started/install.md", "xml"))
    pom = f"""<project>
      <modelVersion>4.0.0</modelVersion>
      <groupId>user</groupId><artifactId>program</artifactId><version>1</version>
      <repositories><repository>
        <id>folder</id><url>{publication.repository.as_uri()}</url>
      </repository></repositories>
      <dependencies>{dependency}</dependencies>
    </project>"""
    (tmp_path / "pom.xml").write_text(pom)
    publication.maven(
        "-q",
        "-f",
        tmp_path / "pom.xml",
        f"-Dmaven.repo.local={tmp_path / 'local'}",
        f"-Dmaven.repo.local.tail={Path.home() / '.m2/repository'}",
        "-Dmaven.repo.local.tail.ignoreAvailability=true",
        "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies",
        f"-DoutputDirectory={tmp_path / 'jars'}",
    )
    (jar,) = (tmp_path / "jars").iterdir()
    published = publication.artifact("spark-collectives_2.13", ".jar")
    assert jar.name == published.name
    assert jar.read_bytes() == published.read_bytes()


@pytest.mark.skipif(not deployments(), reason="the pages name a release")
def test_before_the_first_release_a_folder_is_enough(spark_4, tmp_path):
    def here(command):
        return [word.replace(FOLDER, str(tmp_path / "folder")) for word in command]

    tree = copy_of_the_tree(tmp_path / "tree")
    run(*here(deployments()[0]), cwd=tree)
    try_the_shell(spark_4, here(shell_that_downloads()), tmp_path)
    # The package that pip is told to install has its jar.
    assert list((tree / "python-shim/src/spark_collectives/jars").glob("*.jar"))
    shutil.rmtree(tree)
