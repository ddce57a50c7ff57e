#!/usr/bin/env python3
"""Tests each feature once on every version of Spark, with each Java given, and writes the table of docs/reference/support-matrix.md.

    spark-plugin/suite/matrix.py --java /usr/lib/jvm/java-17 /usr/lib/jvm/java-21
    spark-plugin/suite/matrix.py --spark 4.0.4 "3.5.9, Scala 2.12"

Each version of Spark with each Java is a cell. All cells test the jar that ships; Maven itself runs with the Java of the
environment. The result of a cell stays in matrix.json beside this file, until the cell runs again. The output of its build is in
target/matrix beside this file. The exit status is 1 if a test failed.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

SUITE = pathlib.Path(__file__).resolve().parent
ROOT = SUITE.parents[1]
SHIM = ROOT / "python-shim"
PAGE = ROOT / "docs" / "reference" / "support-matrix.md"
RESULTS = SUITE / "matrix.json"
LOGS = SUITE / "target" / "matrix"
BEGIN, END = "<!-- generated: matrix -->\n", "<!-- end of generated: matrix -->"

# The profile of the suite's pom for each version; none for the version of ./mvnw verify.
PROFILES = {
    "3.5.9, Scala 2.12": "spark-3.5",
    "3.5.9, Scala 2.13": "spark-3.5-scala-2.13",
    "4.0.4": "spark-4.0",
    "4.1.3": "spark-4.1",
    "4.2.0": None,
}
# PySpark brings the jars of these versions, and tests of the Python package use them.
PYSPARK = {"4.3.0, PySpark": "4.3.0"}
PYTHON_TESTS = ["test_operations.py", "test_groups.py", "test_objects.py", "test_store.py", "test_runner.py", "test_ui.py"]
VERSIONS = [*PROFILES, *PYSPARK]
# Cells in which Spark itself does not start. On Java 25 its Hadoop throws that "getSubject is not supported": up to 4.0 in
# SparkContext, in 4.1 in executors and where the event log is written.
UNSUPPORTED = {(version, "25"): "Spark does not start" for version in ["3.5.9, Scala 2.12", "3.5.9, Scala 2.13", "4.0.4"]}
UNSUPPORTED["4.1.3", "25"] = "Spark's executors do not start"


def smoke():
    """Returns the names of the suites that the profile smoke runs."""
    return set(re.search(r"<it\.test>(.*?)</it\.test>", (SUITE / "pom.xml").read_text())[1].split(","))


def run_suites(version, java_home, log):
    """Runs the suites of the profile smoke. Returns the exit status and the reports."""
    profile = PROFILES[version]
    reports = SUITE / "target" / (profile or "") / "failsafe-reports"
    for old in reports.glob("TEST-*.xml"):
        old.unlink()
    profiles = ",".join(filter(None, ["smoke", profile]))
    command = ["./mvnw", "-B", "-pl", "spark-plugin/suite", "-am", f"-P{profiles}", "verify", "-Dtest=none"]
    status = subprocess.call([*command, f"-Dsuite.java.home={java_home}"], cwd=ROOT, stdout=log, stderr=log)
    found = list(reports.glob("TEST-*.xml"))
    missing = smoke() - {each.stem.rpartition(".")[2] for each in found}
    if missing:
        print(f"No report of {', '.join(sorted(missing))}", file=log, flush=True)
    return status or len(missing), found


def run_pyspark(version, java_home, log):
    """Runs tests of the Python package on the jars of a PySpark. Returns the exit status and the reports."""
    build = ["./mvnw", "-B", "-DskipTests", "-Dpython.tests.skip", "-pl", "python-shim", "-am", "package"]
    status = subprocess.call(build, cwd=ROOT, stdout=log, stderr=log)
    if status:
        return status, []
    report = LOGS / "pyspark.xml"
    report.unlink(missing_ok=True)
    settings = {"JAVA_HOME": java_home, "COLLECTIVES_PYSPARK": PYSPARK[version], "COLLECTIVES_TORCH": "none", "COLLECTIVES_REQUIRED": "1"}
    tests = [f"tests/{each}" for each in PYTHON_TESTS]
    command = ["./test", f"--junit-xml={report}", *tests]
    status = subprocess.call(command, cwd=SHIM, env={**os.environ, **settings}, stdout=log, stderr=log)
    return status, [report] if report.exists() else []


def totals(reports):
    """Returns how many tests ran, failed and were skipped."""
    run = failed = skipped = 0
    for report in reports:
        for each in ElementTree.parse(report).getroot().iter("testsuite"):
            run += int(each.get("tests"))
            failed += int(each.get("failures")) + int(each.get("errors"))
            skipped += int(each.get("skipped"))
    return {"run": run - skipped, "failed": failed, "skipped": skipped}


def result_of(status, reports):
    """Returns the result of a cell. Who runs no test has not passed."""
    sums = totals(reports)
    machine = f"{platform.system()} {platform.machine()}"
    day = datetime.date.today().isoformat()
    return {"passed": status == 0 and sums["run"] > 0 and sums["failed"] == 0, "day": day, "machine": machine, **sums}


def java_version(home):
    """Returns the feature release of a Java, such as 17."""
    release = (pathlib.Path(home) / "release").read_text()
    return re.search(r'JAVA_VERSION="(\d+)', release)[1]


def run_cell(version, java_home):
    """Runs a cell. Returns its result."""
    java = java_version(java_home)
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / f"{re.sub('[^0-9A-Za-z.]+', '-', version)}-java-{java}.log"
    print(f"Spark {version}, Java {java}: see {path.relative_to(ROOT)}", flush=True)
    begin = time.monotonic()
    with path.open("w") as log:
        status, reports = (run_pyspark if version in PYSPARK else run_suites)(version, java_home, log)
    result = result_of(status, reports)
    print(f"  {text(result)}, in {(time.monotonic() - begin) / 60:.1f} minutes", flush=True)
    return result


def text(result):
    if result["passed"]:
        return f"{result['run']} tests pass"
    return f"**fails**: {result['failed']} of {result['run']} tests" if result["failed"] else "**fails**"


def cell(results, version, java):
    if java in results.get(version, {}):
        return text(results[version][java])
    return UNSUPPORTED.get((version, java), "not tested")


def table(results):
    """Returns the table of the page."""
    javas = sorted({java for row in results.values() for java in row}, key=int)
    every = [result for row in results.values() for result in row.values()]
    days = sorted(result["day"] for result in every)
    machines = " and ".join(sorted({result["machine"] for result in every}))
    lines = ["| Spark | " + " | ".join(f"Java {java}" for java in javas) + " |", "|---|" + "---|" * len(javas)]
    for version in VERSIONS:
        lines.append(f"| {version} | " + " | ".join(cell(results, version, java) for java in javas) + " |")
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    lines += ["", f"Run by `spark-plugin/suite/matrix.py` on {machines}, {when}."]
    return "\n".join(lines) + "\n"


def in_page(page, results):
    """Returns the page with the table of the results."""
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return page[:begin] + table(results) + page[end:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spark", nargs="+", choices=VERSIONS, default=VERSIONS, metavar="VERSION", help="; ".join(VERSIONS))
    parser.add_argument("--java", nargs="+", metavar="JAVA_HOME", help="by default that of the environment")
    chosen = parser.parse_args()
    homes = chosen.java or [os.environ.get("JAVA_HOME")]
    if None in homes:
        parser.error("name the Javas with --java, or set JAVA_HOME")
    failed = False
    for version in chosen.spark:
        for home in homes:
            if (version, java_version(home)) in UNSUPPORTED:
                continue
            result = run_cell(version, home)
            failed |= not result["passed"]
            results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
            results.setdefault(version, {})[java_version(home)] = result
            RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n")
            PAGE.write_text(in_page(PAGE.read_text(), results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
