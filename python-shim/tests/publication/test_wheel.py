"""The Python package as it is published."""

import re
import shutil
import subprocess
import sys
import tarfile

import pytest

from publication.conftest import ROOT, run
from samples import samples

JARS = ("spark-collectives_2.13", "spark-collectives-ml")

DESCRIBE = """
import json
from importlib import metadata

package = metadata.distribution("spark-collectives")
licences = {each.name: each.read_text() for each in package.files if "licenses" in each.parts}
jars = [str(each) for each in package.files if each.name.endswith(".jar")]
print(json.dumps([dict(package.metadata), licences, jars]))
"""


@pytest.fixture(params=["wheel", "sdist"])
def described(request, wheels, tmp_path):
    """What an empty environment says of the package after installing it."""
    import json

    suffix = {"wheel": ".whl", "sdist": ".tar.gz"}[request.param]
    package = next(path for name, path in wheels.items() if name.endswith(suffix))
    run(sys.executable, "-m", "venv", tmp_path, cwd=ROOT)
    options = ["--quiet", "--no-deps", "--disable-pip-version-check"]
    if request.param == "wheel":
        options.append("--no-index")
    run(tmp_path / "bin/pip", "install", *options, package, cwd=tmp_path)
    python = tmp_path / "bin/python"
    return json.loads(subprocess.check_output([python, "-c", DESCRIBE], text=True))


def test_an_empty_environment_gets_the_jars_and_the_licence(described, publication):
    metadata, licences, jars = described
    assert metadata["Version"] == publication.version
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["Summary"] and metadata["Description"] and metadata["Classifier"]
    assert set(licences) == {"LICENSE", "NOTICE"}
    assert "Apache License" in licences["LICENSE"]
    assert "spark-collectives_2.13" in licences["NOTICE"]
    assert sorted(jars) == [f"spark_collectives/jars/{name}.jar" for name in sorted(JARS)]


def test_an_empty_environment_runs_an_example_and_the_lines_of_the_readme(wheels, tmp_path):
    import pyspark

    wheel = next(path for name, path in wheels.items() if name.endswith(".whl"))
    run(sys.executable, "-m", "venv", tmp_path / "env", cwd=ROOT)
    options = ["--quiet", "--disable-pip-version-check"]
    wanted = [wheel, f"pyspark=={pyspark.__version__}", "numpy"]
    run(tmp_path / "env/bin/pip", "install", *options, *wanted, cwd=tmp_path)
    python = tmp_path / "env/bin/python"
    environment = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(python)}
    module = ["-m", "spark_collectives.examples.digits", "--master", "local[2]", "--ranks", "2"]
    said = run(python, *module, cwd=tmp_path, **environment)
    assert float(re.search(r"held out: ([\d.]+)%", said)[1]) > 90

    sample = samples("README.md", "python")[0]
    program = tmp_path / "program.py"
    program.write_text(sample.code)
    environment["PYSPARK_SUBMIT_ARGS"] = "--master local[2] pyspark-shell"
    assert "[1. 3. 5.]" in run(python, program, cwd=tmp_path, **environment)


@pytest.mark.parametrize("name", JARS)
def test_a_jar_is_the_published_one(publication, name):
    jar = f"python-shim/src/spark_collectives/jars/{name}.jar"
    published = publication.artifact(name, ".jar")
    assert (publication.tree / jar).read_bytes() == published.read_bytes()


def test_the_source_distribution_has_the_licence_and_what_it_is_built_from(wheels):
    path = next(path for name, path in wheels.items() if name.endswith(".tar.gz"))
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert names >= {"LICENSE", "NOTICE", "setup.py", "pyproject.toml", "README.md"}
    assert names >= {f"src/spark_collectives/jars/{name}.jar" for name in JARS}
    assert names >= {f"src/spark_collectives/examples/digits.{end}" for end in ("csv", "md", "py")}


@pytest.mark.parametrize("missing", ["src/spark_collectives/jars", "NOTICE"])
def test_no_package_is_built_without_the_jar_or_the_licence(publication, tmp_path, missing):
    source = tmp_path / "python-shim"
    shutil.copytree(publication.tree / "python-shim", source)
    path = source / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", "out"]
    said = run(*pip, source, cwd=tmp_path, fails=True)
    assert missing in said
    assert "is missing" in said and "run ./mvnw -DskipTests package" in said
    assert not list(tmp_path.glob("out/*.whl"))
