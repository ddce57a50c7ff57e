"""Signatures, which are made if there is a key."""

import shutil

import pytest

from publication.conftest import run


@pytest.mark.skipif(shutil.which("gpg") is None, reason="there is no gpg")
def test_each_file_is_signed_if_a_key_is_named(publication, tmp_path):
    home = tmp_path / "g"
    home.mkdir(mode=0o700)
    key = "test@example.org"
    environment = {"GNUPGHOME": str(home), "MAVEN_GPG_PASSPHRASE": "secret"}
    quick = ["--batch", "--pinentry-mode", "loopback", "--passphrase", "secret"]
    run("gpg", *quick, "--quick-generate-key", key, cwd=tmp_path, **environment)
    repository = tmp_path / "repository"
    publication.deploy("-pl", "store", f"-Dgpg.keyname={key}", repository=repository, **environment)
    signed = [path for path in repository.rglob("*") if path.suffix in (".jar", ".pom", ".json")]
    assert len(signed) == 5
    for path in signed:
        run("gpg", "--verify", f"{path}.asc", path, cwd=tmp_path, **environment)
