"""What the cluster needs of this machine."""

import os
import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROGRAMS = ["bash", "chroot", "ip", "mount", "nsenter", "unshare"]
NAMESPACES = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


class MissingError(Exception):
    """This machine has not what the cluster needs."""


def check():
    """Raise an error that says what is missing, but for the jars."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        raise MissingError("pods are namespaces, which take root")
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        raise MissingError(f"there is no {', '.join(missing)}")
    tried = subprocess.run([*NAMESPACES, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        raise MissingError(f"namespaces are not permitted: {tried.stderr.strip()}")


def mock_jars(spark_home, folder):
    """Return the class path of the API server, of the version of Spark's Kubernetes client."""
    clients = [
        match[1]
        for jar in spark_home.glob("jars/kubernetes-client-*.jar")
        if (match := re.fullmatch(r"kubernetes-client-(\d[\d.]*)\.jar", jar.name))
    ]
    if not clients or not clients[0].startswith("7."):
        raise MissingError(f"the API server is made for the client 7 of Kubernetes, not {clients}")
    path = folder / "classpath"
    done = subprocess.run(
        [
            str(ROOT / "mvnw"),
            "-q",
            "-f",
            str(HERE / "pom.xml"),
            "dependency:build-classpath",
            f"-Dkubernetes-client.version={clients[0]}",
            f"-Dmdep.outputFile={path}",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise MissingError(f"the jars of the API server cannot be had: {done.stdout[-2000:]}")
    return path.read_text().strip()


def closed_folders(*paths):
    """Return the folders above the paths that only some users of this machine may enter."""
    real = [Path(path).resolve() for path in paths]
    above = {folder for path in real for folder in [path, *path.parents]}
    return sorted(each for each in above if each.is_dir() and not each.stat().st_mode & 0o001)
