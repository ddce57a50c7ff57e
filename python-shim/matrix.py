#!/usr/bin/env python3
"""Runs the package's tests with versions of PySpark, Python and torch, and writes a table of them.

    python-shim/matrix.py --python python3.10 ~/.pyenv/versions/3.12.1/bin/python
    python-shim/matrix.py --pyspark 3.5.9 --torch 2.7.1 --python python3.11
    python-shim/matrix.py --torch 2.7.1 --pyspark 4.2.0 --tests tests/test_operations.py

Each PySpark with each Python and each torch is a cell, whose tests run in an environment of its own
under target/matrix, which is removed afterwards. The package's jar must have been built, by
./mvnw -DskipTests package. The result of a cell stays in matrix.json beside this file, until the
cell runs again, and the table is in docs/reference/support-matrix.md. With --tests some of the
tests run, and nothing is kept. The exit status is 1 if a test failed.

torch comes from PyTorch's own index, which has builds for CPUs; --index names another one.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

SHIM = pathlib.Path(__file__).resolve().parent
ROOT = SHIM.parent
PAGE = ROOT / "docs" / "reference" / "support-matrix.md"
RESULTS = SHIM / "matrix.json"
WORK = SHIM / "target" / "matrix"
BEGIN, END = "<!-- generated: versions -->\n", "<!-- end of generated: versions -->"

PYSPARKS = ["3.5.9", "4.0.4", "4.1.3", "4.2.0"]
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
#: The oldest, one in the middle and the newest.
TORCHES = ["2.7.1", "2.11.0", "2.15.0"]
CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def suite():
    """Return the script that does the same for versions of Spark and Java."""
    path = ROOT / "spark-plugin" / "suite" / "matrix.py"
    spec = importlib.util.spec_from_file_location("suite_matrix", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SUITE = suite()


def python_version(python):
    """Return the version of a Python, such as 3.12."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.check_output([python, "-c", ask], text=True).strip()


def settings(pyspark, python, torch, index, environment):
    """Return the variables with which ``test`` runs a cell."""
    return {
        "COLLECTIVES_PYTHON": python,
        "COLLECTIVES_PYSPARK": pyspark,
        "COLLECTIVES_TORCH": f"torch=={torch}" + (f" --index-url {index}" if index else ""),
        "COLLECTIVES_ENVIRONMENT": str(environment),
        # The versions of what checks the sources are not those of the cell.
        "COLLECTIVES_CHECKS": "none",
        "COLLECTIVES_REQUIRED": "1",
    }


def run_cell(pyspark, python, torch, index, tests):
    """Run the tests of a cell, and return its result."""
    name = f"pyspark-{pyspark}-python-{python_version(python)}-torch-{torch}"
    environment, report, log = (WORK / f"{name}{end}" for end in ("", ".xml", ".log"))
    WORK.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    # A run that was killed may have left a part of it.
    shutil.rmtree(environment, ignore_errors=True)
    print(f"{name}: see {log.relative_to(ROOT)}", flush=True)
    begin = time.monotonic()
    variables = settings(pyspark, python, torch, index, environment)
    command = ["./test", f"--junit-xml={report}", *tests]
    try:
        with log.open("w") as out:
            status = subprocess.call(
                command, cwd=SHIM, env={**os.environ, **variables}, stdout=out, stderr=out
            )
    finally:
        # With torch it has gigabytes.
        shutil.rmtree(environment, ignore_errors=True)
    result = SUITE.result_of(status, [report] if report.exists() else [])
    print(f"  {SUITE.text(result)}, in {(time.monotonic() - begin) / 60:.1f} minutes", flush=True)
    return result


def keep(results, pyspark, python, torch, result):
    """Put the result of a cell where those of all are."""
    results.setdefault(pyspark, {}).setdefault(python, {})[torch] = result


def cell(results, pyspark, python, torch):
    """Return what the table says of a cell."""
    result = results.get(pyspark, {}).get(python, {}).get(torch)
    return "not tested" if result is None else SUITE.text(result)


def table(results):
    """Return the table of the page, with the rows of which a cell was tested."""
    every = [each for row in results.values() for cells in row.values() for each in cells.values()]
    if not every:
        return "The whole test suite has not run with other versions yet.\n"
    lines = [
        "| PySpark | Python | " + " | ".join(f"torch {torch}" for torch in TORCHES) + " |",
        "|---|---|" + "---|" * len(TORCHES),
    ]
    for pyspark in PYSPARKS:
        for python in PYTHONS:
            if results.get(pyspark, {}).get(python):
                cells = (cell(results, pyspark, python, torch) for torch in TORCHES)
                lines.append(f"| {pyspark} | {python} | " + " | ".join(cells) + " |")
    days = sorted({each["day"] for each in every})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    machines = " and ".join(sorted({each["machine"] for each in every}))
    lines += ["", f"Run by `python-shim/matrix.py` on {machines}, {when}."]
    return "\n".join(lines) + "\n"


def in_page(page, results):
    """Return the page with the table of the results."""
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return page[:begin] + table(results) + page[end:]


def arguments():
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, versions in (("--pyspark", PYSPARKS), ("--torch", TORCHES)):
        parser.add_argument(
            name,
            nargs="+",
            choices=versions,
            default=versions,
            metavar="VERSION",
            help="by default " + ", ".join(versions),
        )
    parser.add_argument(
        "--python",
        nargs="+",
        default=[f"python{version}" for version in PYTHONS],
        metavar="PYTHON",
        help="by default " + ", ".join(f"python{version}" for version in PYTHONS),
    )
    parser.add_argument("--index", default=CPU_INDEX, help="'' for that of pip")
    parser.add_argument("--tests", nargs="+", default=[], help="arguments of pytest")
    return parser


def main():
    """Run the cells that the command line names."""
    parser = arguments()
    chosen = parser.parse_args()
    pythons = {}
    for each in chosen.python:
        path = shutil.which(each)
        if path is None:
            parser.error(f"there is no {each}: name the Pythons with --python")
        version = python_version(path)
        if version not in PYTHONS:
            parser.error(f"{each} has version {version}, which is not in the table")
        pythons[version] = os.path.abspath(path)
    failed = False
    for pyspark in chosen.pyspark:
        for version, python in pythons.items():
            for torch in chosen.torch:
                result = run_cell(pyspark, python, torch, chosen.index, chosen.tests)
                failed |= not result["passed"]
                if not chosen.tests:
                    results = json.loads(RESULTS.read_text())
                    keep(results, pyspark, version, torch, result)
                    RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n")
                    PAGE.write_text(in_page(PAGE.read_text(), results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
