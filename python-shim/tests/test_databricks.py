"""The files for Databricks are what a workspace imports, and name what this project builds.

Nothing here runs on Databricks.
"""

import ast
import json
import os
import re
import subprocess

import pytest

from samples import ROOT
from spark_collectives import _version, session

FILES = ROOT / "examples" / "databricks"
NOTEBOOKS = ROOT / "examples" / "notebooks"
PAGE = ROOT / "docs" / "operate" / "databricks.md"
SCRIPT = FILES / "spark-collectives-init.sh"

pytestmark = pytest.mark.skipif(
    not FILES.is_dir(), reason="the examples are not in a source distribution"
)


def first(pattern, path):
    return re.search(pattern, path.read_text("utf-8")).group(1)


@pytest.fixture(scope="module")
def version():
    return first(r"<version>(.+?)</version>", ROOT / "pom.xml")


@pytest.fixture(scope="module")
def jars(version):
    """Return the names of the jars as Maven builds them."""
    modules = (ROOT / "spark-plugin", ROOT / "spark-plugin" / "ml")
    own = r"</parent>\s*<artifactId>(.+?)</artifactId>"
    return [f"{first(own, module / 'pom.xml')}-{version}.jar" for module in modules]


@pytest.fixture(scope="module")
def bundle(spark):
    """Read the bundle with the parser that Spark has, and with the values of its variables."""
    text = (FILES / "databricks.yml").read_text("utf-8")
    defaults = dict(re.findall(r"^  (\w+):\n    desc.*\n    default: (\S+)$", text, re.M))
    given = dict(re.findall(r"^export BUNDLE_VAR_(\w+)=(\S+)$", PAGE.read_text("utf-8"), re.M))
    assert given.keys() == {"node_type"}, "whose value no cloud shares with another"
    for name, value in {**defaults, **given}.items():
        text = text.replace(f"${{var.{name}}}", value)
    assert "${" not in text
    jackson = spark.sparkContext._jvm.com.fasterxml.jackson
    mapper = jackson.databind.ObjectMapper(jackson.dataformat.yaml.YAMLFactory())
    return json.loads(mapper.readTree(text).toString())


@pytest.fixture(scope="module")
def job(bundle):
    return bundle["resources"]["jobs"]["digits"]


@pytest.fixture(scope="module")
def cluster(job):
    (cluster,) = job["job_clusters"]
    (task,) = job["tasks"]
    assert task["job_cluster_key"] == cluster["job_cluster_key"]
    return cluster["new_cluster"]


@pytest.fixture(scope="module")
def policy():
    return json.loads((FILES / "cluster-policy.json").read_text("utf-8"))


def init(libraries, runtime):
    folders = {"COLLECTIVES_LIBRARIES": str(libraries), "COLLECTIVES_JARS": str(runtime)}
    return subprocess.run([str(SCRIPT)], env={**os.environ, **folders}, capture_output=True)


def test_the_init_script_copies_the_jars(tmp_path, jars):
    libraries, runtime = tmp_path / "libraries", tmp_path / "jars"
    libraries.mkdir()
    runtime.mkdir()
    for name in jars:
        assert init(libraries, runtime).returncode != 0, "a jar is missing"
        (libraries / name).write_text(name)
    done = init(libraries, runtime)
    assert done.returncode == 0, done.stderr
    assert {path.name: path.read_text() for path in runtime.iterdir()} == {n: n for n in jars}


def test_the_bundle_has_the_mappings_of_one(bundle):
    assert set(bundle) == {"bundle", "variables", "sync", "targets", "resources"}
    assert bundle["bundle"]["name"]
    (target,) = bundle["targets"].values()
    assert target == {"mode": "development", "default": True}
    variables = bundle["variables"]
    assert set(variables) == {"libraries", "node_type"}
    assert set(variables["libraries"]) == {"description", "default"}


def test_the_type_of_the_machines_must_be_given_for_each_cloud(bundle, cluster):
    (description,) = bundle["variables"]["node_type"].values()
    page = PAGE.read_text("utf-8")
    examples = dict(re.findall(r"(\S+) \((AWS|Azure|Google)\)", description))
    assert set(examples.values()) == {"AWS", "Azure", "Google"}
    assert all(name in page for name in examples)
    assert examples[cluster["node_type_id"]] == "AWS"


def test_the_job_runs_a_notebook_with_the_wheel(bundle, job, version):
    (task,) = job["tasks"]
    path = (FILES / task["notebook_task"]["notebook_path"]).resolve()
    assert path.is_file()
    assert path.parent in [(FILES / each).resolve() for each in bundle["sync"]["paths"]]
    wheel, torch = task["libraries"]
    name = f"spark_collectives-{_version.in_pythons_notation(version)}-py3-none-any.whl"
    assert wheel["whl"] == f"{bundle['variables']['libraries']['default']}/{name}"
    assert torch == {"pypi": {"package": "torch"}}


def test_the_cluster_has_the_plugin_and_as_many_slots_from_the_beginning(bundle, cluster):
    assert cluster["spark_conf"] == {"spark.plugins": session.PLUGIN}
    assert cluster["num_workers"] > 0 and "autoscale" not in cluster
    (script,) = cluster["init_scripts"]
    libraries = bundle["variables"]["libraries"]["default"]
    assert script["volumes"]["destination"] == f"{libraries}/{SCRIPT.name}"
    assert cluster["spark_env_vars"] == {"COLLECTIVES_LIBRARIES": libraries}
    assert first(r"COLLECTIVES_LIBRARIES:-(.+?)}", SCRIPT) == libraries


def test_the_data_of_the_notebook_in_scala_is_copied_where_it_says(bundle):
    libraries = bundle["variables"]["libraries"]["default"]
    path = first(rf"(?m)^databricks fs cp (\S+\.csv) dbfs:{libraries}/$", PAGE)
    assert (ROOT / path).is_file()
    name = path.rpartition("/")[2]
    assert first(r'"(/Volumes/\S+)"', NOTEBOOKS / "digits.scala") == f"{libraries}/{name}"


def flat(value, path=""):
    """Return the values of a cluster by the paths under which a policy has them."""
    if isinstance(value, (dict, list)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        return {
            key: each
            for name, part in parts
            for key, each in flat(part, f"{path}.{name}" if path else str(name)).items()
        }
    return {path: value}


#: What a rule must have besides its type, and whether it allows a value.
RULES = {
    "fixed": ({"value"}, lambda rule, value: value == rule["value"]),
    "forbidden": (set(), lambda rule, value: value is None),
    "allowlist": ({"values"}, lambda rule, value: value in rule["values"]),
    "range": ({"minValue"}, lambda rule, value: value >= rule["minValue"]),
}


def test_the_policy_has_rules_that_allow_their_own_defaults(policy):
    for attribute, rule in policy.items():
        needed, allows = RULES[rule["type"]]
        assert needed <= set(rule) <= needed | {"type", "defaultValue"}, attribute
        assert "defaultValue" not in rule or allows(rule, rule["defaultValue"]), attribute


def test_the_policy_allows_the_cluster_of_the_bundle(policy, cluster):
    values = flat(cluster)
    refused = {
        attribute: values.get(attribute)
        for attribute, rule in policy.items()
        if not RULES[rule["type"]][1](rule, values.get(attribute))
    }
    assert refused == {}


def runtimes():
    """Return the rows of the page's table of runtimes: number, Spark, Java, Scala."""
    row = r"^\| \[([\d.]+)(?: LTS)?\]\(https://docs\.databricks\.com/\S+\) \|(.+)\|.*\|$"
    rows = re.findall(row, PAGE.read_text("utf-8"), re.MULTILINE)
    return {number: [cell.strip() for cell in cells.split("|")] for number, cells in rows}


def test_the_page_has_the_runtimes_of_the_policy_with_a_java_that_is_new_enough(policy):
    named = runtimes()
    assert len(named) >= 5
    for key in policy["spark_version"]["values"]:
        number, scala = re.fullmatch(r"([\d.]+)\.x-scala([\d.]+)", key).groups()
        spark, java, scalas = named[number]
        assert tuple(map(int, spark.split(".")[:2])) in ((3, 5), (4, 0))
        assert int(java) >= 17
        assert scala in scalas.split(" or ")


def test_the_page_links_to_each_file_and_says_that_nobody_has_run_it():
    text = PAGE.read_text("utf-8")
    for path in FILES.iterdir():
        assert f"](../../examples/databricks/{path.name})" in text
    assert "Nobody has run it there" in text


SOURCES = [
    path
    for path in sorted(NOTEBOOKS.glob("*"))
    if path.suffix in (".py", ".scala") and path.name != "convert.py"
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_source_is_a_notebook_of_databricks(path):
    mark = {".py": "#", ".scala": "//"}[path.suffix]
    text = path.read_text("utf-8")
    header, _, content = text.partition("\n")
    assert header == f"{mark} Databricks notebook source"
    assert text.endswith("\n") and "\r" not in text
    cells = content.split(f"\n\n{mark} COMMAND ----------\n\n")
    assert len(cells) > 2
    assert "COMMAND" not in "".join(cells), "a separator has an empty line on both sides"
    for cell in cells:
        lines = cell.strip("\n").splitlines()
        assert lines, "a cell is empty"
        magic = [line.startswith(f"{mark} MAGIC") for line in lines]
        assert all(magic) or not any(magic), "magic and code share a cell"
        if magic[0]:
            assert lines[0] == f"{mark} MAGIC %md"
        elif path.suffix == ".py":
            ast.parse(cell)


def test_all_notebooks_have_a_source():
    made = {path.stem for path in NOTEBOOKS.glob("*.ipynb")}
    assert {path.stem for path in SOURCES if path.suffix == ".py"} == made
