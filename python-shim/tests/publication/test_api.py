"""The comparison of the API with that of the last release."""

import shutil

from publication.conftest import Publication, copy_of_the_tree

STORE = "store/src/main/java/org/sparkcollectives/store/StoreConfiguration.java"
ADDED = "\n  /** Is in the baseline only. */\n  public static void removedSince() {}\n}\n"


def compare(publication, baseline, repository, fails=False):
    return publication.maven(
        "-Prelease",
        "-pl",
        "store",
        "verify",
        f"-Dapi.baseline={baseline}",
        f"-Dmaven.repo.local.tail={repository}",
        "-Dmaven.repo.local.tail.ignoreAvailability=true",
        fails=fails,
    )


def test_the_same_api_passes(publication, tmp_path):
    name, earlier = "spark-collectives-store", "0.0.2"
    folder = tmp_path / "org/sparkcollectives" / name / earlier
    folder.mkdir(parents=True)
    shutil.copy(publication.artifact(name, ".jar"), folder / f"{name}-{earlier}.jar")
    pom = publication.artifact(name, ".pom").read_text()
    renamed = pom.replace(f"<version>{publication.version}<", f"<version>{earlier}<", 1)
    (folder / f"{name}-{earlier}.pom").write_text(renamed)
    said = compare(publication, earlier, tmp_path)
    assert "The API is compared with that of the release 0.0.2" in said
    assert "Skipping execution" not in said.split("api-comparison")[1].split("---")[0]


def test_a_removed_method_fails_the_build(publication, tmp_path):
    earlier = Publication(copy_of_the_tree(tmp_path / "tree"), tmp_path / "repository", "")
    earlier.set_version("0.0.1")
    source = earlier.tree / STORE
    source.write_text(source.read_text().rstrip().removesuffix("}") + ADDED)
    earlier.deploy("-pl", "store")

    said = compare(publication, "0.0.1", earlier.repository, fails=True)
    assert "removedSince" in said and "METHOD_REMOVED" in said


def test_nothing_is_compared_before_the_first_release(publication):
    said = publication.maven("-Prelease", "-pl", "store", "verify", "-Dapi.baseline=")
    assert "The API is compared with no release, because the property api.baseline is empty" in said
