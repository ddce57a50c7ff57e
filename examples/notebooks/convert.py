"""Makes notebooks for Jupyter and Zeppelin from those for Databricks.

    python examples/notebooks/convert.py

digits.zpln is made from digits.py and digits.scala, and each .ipynb from the .py of its name. The
sources are what is edited; a test fails when the others are older.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

#: What is different in Zeppelin. Matplotlib shows no picture there unless it is told to, a relative
#: path begins in Zeppelin's own folder, and HTML is what a paragraph prints after "%html".
IN_ZEPPELIN = {
    ".py": {
        "import matplotlib": "%matplotlib inline\n\nimport matplotlib",
        '/examples/digits.csv"': """/examples/digits.csv"
spark.conf.set("spark.digits.csv", data)  # for the paragraphs in Scala""",
    },
    ".scala": {
        """
// On Databricks that of a volume, such as "/Volumes/main/default/libraries/digits.csv".""": "",
        '"../data/digits.csv"': 'spark.conf.get("spark.digits.csv") // set by the Python paragraphs',
        "displayHTML(curve(losses.toSeq))": 'println("%html " + curve(losses.toSeq))',
    },
}


def cells(path):
    """The cells of a notebook in Databricks' source format: whether it is text, and its lines."""
    mark = {".py": "#", ".scala": "//"}[path.suffix]
    first, _, content = path.read_text("utf-8").partition("\n")
    assert first == f"{mark} Databricks notebook source", f"{path} is no notebook of Databricks"
    magic = f"{mark} MAGIC"
    for cell in content.split(f"{mark} COMMAND ----------\n"):
        lines = cell.strip("\n").splitlines()
        if lines[0] == f"{magic} %md":
            yield True, "\n".join(line[len(magic) + 1 :] for line in lines[1:])
        else:
            yield False, "\n".join(lines)


def jupyter(python):
    """A notebook of Jupyter."""
    made = []
    for i, (text, source) in enumerate(cells(python)):
        cell = {"id": f"cell-{i}", "metadata": {}, "source": source.splitlines(keepends=True)}
        if text:
            made.append({"cell_type": "markdown", **cell})
        else:
            made.append({"cell_type": "code", **cell, "execution_count": None, "outputs": []})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def for_zeppelin(path):
    """The cells as Zeppelin needs them."""
    found = list(cells(path))
    for other, own in IN_ZEPPELIN[path.suffix].items():
        assert sum(source.count(other) for _, source in found) == 1, other
        found = [(text, source.replace(other, own)) for text, source in found]
    return found


def zeppelin(python, scala):
    """A notebook of Zeppelin, with both languages."""
    made = []
    for path, interpreter in ((python, "%spark.ipyspark"), (scala, "%spark")):
        for text, source in for_zeppelin(path):
            made.append(
                {
                    "text": f"{'%md' if text else interpreter}\n\n{source}",
                    "config": {"colWidth": 12.0, "enabled": True, "results": {}},
                    "settings": {"params": {}, "forms": {}},
                    "id": f"paragraph_{len(made)}",
                    "status": "READY",
                }
            )
    return {
        "paragraphs": made,
        "name": "Spark Collectives: digits",
        "id": "SPARKCOLLECTIVES",
        "defaultInterpreterGroup": "spark",
        "noteParams": {},
        "noteForms": {},
        "angularObjects": {},
        "config": {"isZeppelinNotebookCronEnable": False},
        "info": {},
    }


def converted(folder=FOLDER):
    """The files that are made, by name."""
    python, scala = folder / "digits.py", folder / "digits.scala"
    notebooks = {
        "digits.ipynb": jupyter(python),
        "digits.zpln": zeppelin(python, scala),
        "lightgbm_tumours.ipynb": jupyter(folder / "lightgbm_tumours.py"),
        "spark_ml.ipynb": jupyter(folder / "spark_ml.py"),
    }
    return {
        name: json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        for name, content in notebooks.items()
    }


def main():
    for name, text in converted().items():
        (FOLDER / name).write_text(text, "utf-8")
        print(f"{name} written")


if __name__ == "__main__":
    main()
