"""What is in the folder into which the project was published."""

import json
import re
from xml.etree import ElementTree

import pytest

import jars

MODULES = {
    "spark-collectives-store": "org.sparkcollectives.store",
    "spark-collectives-core": "org.sparkcollectives",
    "spark-collectives-training": "org.sparkcollectives.training",
    "spark-collectives-djl": "org.sparkcollectives.djl",
    "spark-collectives-gpu": "org.sparkcollectives.gpu",
    "spark-collectives_2.13": "org.sparkcollectives.spark",
    "spark-collectives-ml": "org.sparkcollectives.ml",
    "spark-collectives-lightgbm": "org.sparkcollectives.lightgbm",
}
SUFFIXES = (".jar", "-sources.jar", "-javadoc.jar", ".pom", "-cyclonedx.json", "-cyclonedx.xml")
POM = "{http://maven.apache.org/POM/4.0.0}"


def pom(publication, artifact):
    return ElementTree.parse(publication.artifact(artifact, ".pom")).getroot()


def dependencies(project):
    return {
        dependency.findtext(f"{POM}artifactId"): dependency.findtext(f"{POM}scope")
        for dependency in project.findall(f"{POM}dependencies/{POM}dependency")
    }


def test_what_is_published_and_nothing_else(publication):
    names = {name.rsplit("/", 1)[1] for name in publication.files()}
    expected = {f"{name}-{publication.version}{end}" for name in MODULES for end in SUFFIXES}
    expected.add(f"spark-collectives_2.12-{publication.version}.pom")
    sums = {f"{name}.{kind}" for name in expected for kind in ("md5", "sha1")}
    assert names == expected | sums


@pytest.mark.parametrize("artifact", MODULES)
def test_a_jar_has_its_own_classes_and_says_what_it_is(publication, artifact):
    path = publication.artifact(artifact, ".jar")
    jars.check_classes(path, publication.version, MODULES[artifact])


@pytest.mark.parametrize("artifact", MODULES)
def test_the_jar_of_sources_has_the_source_of_each_class(publication, artifact):
    sources = publication.artifact(artifact, "-sources.jar")
    jars.check_licence(sources)
    have = set(jars.names(sources))
    classes = jars.names(publication.artifact(artifact, ".jar"))
    needed = {re.sub(r"(\$.*)?\.class$", ".java", n) for n in classes if n.endswith(".class")}
    # Some files have more than one class at the top.
    missing = needed - have
    inside = {
        name
        for name in missing
        for folder in [name.rsplit("/", 1)[0]]
        for source in have
        if source.rsplit("/", 1)[0] == folder
        and re.search(rf"\b{name.rsplit('/', 1)[1][:-5]}\b", jars.text(sources, source))
    }
    assert missing == inside
    assert [name for name in have if name.endswith(".class")] == []


@pytest.mark.parametrize("artifact", MODULES)
def test_the_javadoc_has_public_packages_only(publication, artifact):
    path = publication.artifact(artifact, "-javadoc.jar")
    jars.check_licence(path)
    pages = [name for name in jars.names(path) if name.endswith(".html")]
    assert len(pages) > 10
    assert [page for page in pages if "/internal/" in page] == []


def test_the_javadoc_of_the_plugin_has_the_api_of_all_that_is_in_its_jar(publication):
    pages = set(jars.names(publication.artifact("spark-collectives_2.13", "-javadoc.jar")))
    names = ("store/Store", "ProcessGroup", "spi/Backend", "ddp/GradientReducer")
    for name in (*names, "spark/BarrierStage"):
        assert f"org/sparkcollectives/{name}.html" in pages


@pytest.mark.parametrize("artifact", [*MODULES, "spark-collectives_2.12"])
def test_a_pom_is_complete_and_stands_alone(publication, artifact):
    project = pom(publication, artifact)
    for name in ("name", "description", "url", "version"):
        assert project.findtext(POM + name), name
    for path in ("licenses/license/url", "developers/developer/name", "scm/url", "scm/connection"):
        assert project.findtext("/".join(POM + name for name in path.split("/"))), path
    for name in ("parent", "dependencyManagement", "build", "profiles", "repositories"):
        assert project.find(POM + name) is None, name
    assert "${" not in publication.artifact(artifact, ".pom").read_text()
    assert set(dependencies(project).values()) <= {"compile", "runtime", "provided"}


def test_the_plugin_brings_nothing_that_is_in_its_jar_or_in_spark(publication):
    scopes = dependencies(pom(publication, "spark-collectives_2.13"))
    assert set(scopes.values()) == {"provided"}
    assert [name for name in scopes if name.startswith("spark-collectives")] == []


def test_the_gpu_module_brings_neither_netty_nor_a_second_core(publication):
    scopes = dependencies(pom(publication, "spark-collectives-gpu"))
    brought = {name for name, scope in scopes.items() if scope != "provided"}
    assert brought == {"jcuda", "jcuda-natives", "jna"}


def test_the_djl_module_brings_neither_djl_nor_a_second_core(publication):
    scopes = dependencies(pom(publication, "spark-collectives-djl"))
    assert scopes == {
        "spark-collectives-core": "provided",
        "spark-collectives-training": "provided",
        "api": "provided",
    }


def test_the_estimators_bring_the_plugin_only(publication):
    scopes = dependencies(pom(publication, "spark-collectives-ml"))
    brought = {name for name, scope in scopes.items() if scope != "provided"}
    assert brought == {"spark-collectives_2.13"}


def test_each_estimator_is_known_to_spark_connect(publication):
    path = publication.artifact("spark-collectives-ml", ".jar")
    listed = jars.text(path, "META-INF/services/org.apache.spark.ml.Estimator").splitlines()
    listed = [line for line in listed if line and not line.startswith("#")]
    public = [
        name[: -len(".class")].replace("/", ".")
        for name in jars.names(path)
        if re.fullmatch(
            r"org/sparkcollectives/ml/(classification|clustering|regression)/\w+\.class", name
        )
        and not name.endswith("package-info.class")
    ]
    assert set(listed) <= set(public)
    assert len(listed) >= 6


def test_the_name_for_scala_2_12_leads_to_the_one_jar(publication):
    project = pom(publication, "spark-collectives_2.12")
    relocation = project.find(f"{POM}distributionManagement/{POM}relocation")
    assert relocation.findtext(f"{POM}artifactId") == "spark-collectives_2.13"


@pytest.mark.parametrize("artifact", MODULES)
def test_the_bill_of_materials_lists_what_comes_with_the_jar(publication, artifact):
    bill = json.loads(publication.artifact(artifact, "-cyclonedx.json").read_text())
    assert bill["metadata"]["component"]["name"] == artifact
    listed = {component["name"] for component in bill.get("components", [])}
    scopes = dependencies(pom(publication, artifact))
    assert {name for name, scope in scopes.items() if scope != "provided"} <= listed
    if artifact == "spark-collectives_2.13":
        assert listed == {f"spark-collectives-{name}" for name in ("core", "store", "training")}
    for name in ("spark-core_2.13", "junit-jupiter"):
        assert name not in listed
