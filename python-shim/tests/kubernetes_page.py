"""The command of the page on Kubernetes."""

import re
import shlex

from samples import ROOT, samples

PAGE = "docs/operate/kubernetes.md"


def text():
    return (ROOT / PAGE).read_text()


def command():
    """Return the words of the command that submits the application."""
    (sample,) = (each for each in samples(PAGE, "sh") if "spark-submit" in each.code)
    commands = sample.code.replace("\\\n", " ").splitlines()
    (submit,) = (each for each in commands if each.startswith("spark-submit"))
    return shlex.split(submit)


def settings():
    """Return the settings that the command gives, by name."""
    words = command()
    pairs = [words[i + 1].split("=", 1) for i in range(len(words) - 1) if words[i] == "--conf"]
    given = dict(pairs)
    assert len(given) == len(pairs)
    given["spark.master"] = words[words.index("--master") + 1]
    given["spark.app.name"] = words[words.index("--name") + 1]
    return given


def smaller_settings():
    """Return the settings that take the place of the command's on a small cluster, by name."""
    (part,) = re.findall(r"^\*\*A small cluster\*\* (.*?)\n\n", text(), re.MULTILINE | re.DOTALL)
    return dict(re.findall(r"`--conf (\S+?)=(\S+?)`", part))
