"""The installed package and its jar: a sample of what the tests in ``publication`` check."""

from importlib import metadata

import jars
import spark_collectives as dist
from spark_collectives import session


def test_the_package_has_its_licence_and_says_what_it_is():
    package = metadata.distribution("spark-collectives")
    described = package.metadata
    assert described["License-Expression"] == "Apache-2.0"
    assert described.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert {url.split(",")[0] for url in described.get_all("Project-URL")} >= {"Source"}
    licences = {path.name for path in package.files if "licenses" in path.parts}
    assert licences == {"LICENSE", "NOTICE"}
    notice = next(path for path in package.files if path.name == "NOTICE").read_text()
    assert "spark-collectives_2.13" in notice
    # The data of the example are of others.
    assert any(path.name == "digits.csv" for path in package.files)
    assert "spark_collectives/examples/digits.csv" in notice and "CC BY 4.0" in notice


def test_the_jars_have_their_licence_and_no_class_of_others():
    version = jars.manifest(dist.jar_path())["Implementation-Version"]
    jars.check_classes(dist.jar_path(), version, "org.sparkcollectives.spark")
    jars.check_classes(session.ml_jar_path(), version, "org.sparkcollectives.ml")
