"""The versions of PySpark, Python and torch on the page, and the script that tests them."""

import json
import re
import sys
from pathlib import Path

import pytest

import scripts

SHIM = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def matrix():
    return scripts.load(SHIM / "matrix.py")


def result(day="2026-11-26", **others):
    return {
        "passed": True,
        "run": 5,
        "failed": 0,
        "skipped": 0,
        "day": day,
        "machine": "Linux x86_64",
        **others,
    }


def test_the_page_has_the_results_of_the_last_run(matrix):
    page = matrix.PAGE.read_text()
    assert matrix.in_page(page, json.loads(matrix.RESULTS.read_text())) == page


def test_a_cell_says_what_its_tests_said_or_that_there_were_none(matrix):
    results = {}
    assert matrix.cell(results, "4.2.0", "3.11", "2.15.0") == "not tested"
    matrix.keep(results, "4.2.0", "3.11", "2.15.0", result())
    failed = result(passed=False, failed=2)
    matrix.keep(results, "4.2.0", "3.11", "2.7.1", failed)
    matrix.keep(results, "4.2.0", "3.12", "2.7.1", result(passed=False, run=0))
    assert matrix.cell(results, "4.2.0", "3.11", "2.15.0") == "5 tests pass"
    assert matrix.cell(results, "4.2.0", "3.11", "2.7.1") == "**fails**: 2 of 5 tests"
    assert matrix.cell(results, "4.2.0", "3.12", "2.7.1") == "**fails**"
    assert matrix.cell(results, "4.1.3", "3.11", "2.15.0") == "not tested"


def test_the_table_has_a_row_for_each_pyspark_and_python_of_which_a_cell_was_tested(matrix):
    results = {}
    assert matrix.table(results) == "The whole test suite has not run with other versions yet.\n"
    matrix.keep(results, "3.5.9", "3.10", "2.7.1", result("2026-11-25"))
    matrix.keep(results, "4.2.0", "3.13", "2.15.0", result(run=7))
    lines = matrix.table(results).splitlines()
    assert "| 3.5.9 | 3.10 | 5 tests pass | not tested | not tested |" in lines
    assert "| 4.2.0 | 3.13 | not tested | not tested | 7 tests pass |" in lines
    assert len(lines) == 6
    run = "Run by `python-shim/matrix.py` on Linux x86_64, 2026-11-25 to 2026-11-26."
    assert lines[-1] == run


def test_the_table_replaces_the_one_on_the_page(matrix):
    page = f"before\n{matrix.BEGIN}an old table\n{matrix.END}\nbehind\n"
    expected = f"before\n{matrix.BEGIN}{matrix.table({})}{matrix.END}\nbehind\n"
    assert matrix.in_page(page, {}) == expected


def test_a_cell_has_the_variables_that_the_tests_know(matrix, tmp_path):
    found = matrix.settings("4.0.4", "python3.10", "2.11.0", "https://index", tmp_path)
    assert found["COLLECTIVES_TORCH"] == "torch==2.11.0 --index-url https://index"
    assert matrix.settings("", "", "2.11.0", "", tmp_path)["COLLECTIVES_TORCH"] == "torch==2.11.0"
    script = (SHIM / "test").read_text()
    for name in found:
        assert re.search(rf"\$\{{{name}\b", script), name


def test_a_cell_runs_in_an_environment_of_its_own_and_leaves_none(matrix, tmp_path, monkeypatch):
    script = """
import os, sys
where = os.environ["COLLECTIVES_ENVIRONMENT"]
os.makedirs(where)
open(where + "-seen", "w").write(" ".join(sys.argv[2:]))
report = sys.argv[1].partition("=")[2]
open(report, "w").write('<testsuite tests="3" failures="0" errors="0" skipped="1"/>')
"""
    shim = tmp_path / "shim"
    shim.mkdir()
    (shim / "test").write_text(f"#!{sys.executable}\n{script}")
    (shim / "test").chmod(0o755)
    monkeypatch.setattr(matrix, "SHIM", shim)
    monkeypatch.setattr(matrix, "ROOT", tmp_path)
    monkeypatch.setattr(matrix, "WORK", tmp_path / "work")
    found = matrix.run_cell("4.2.0", sys.executable, "2.11.0", "", ["-k", "one"])
    assert (found["passed"], found["run"], found["skipped"]) == (True, 2, 1)
    (seen,) = (tmp_path / "work").glob("*-seen")
    assert seen.read_text() == "-k one"
    assert not Path(str(seen)[: -len("-seen")]).exists()


@pytest.mark.parametrize("arguments", [["--python", "nothing"], ["--torch", "1.0"]])
def test_what_is_in_no_table_is_refused_before_a_cell_runs(matrix, arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["matrix.py", *arguments])
    monkeypatch.setattr(matrix, "run_cell", lambda *_: pytest.fail("a cell runs"))
    with pytest.raises(SystemExit):
        matrix.main()
    assert arguments[1] in capsys.readouterr().err


def test_the_results_of_whole_cells_are_kept(matrix, monkeypatch, tmp_path):
    page = tmp_path / "python.md"
    page.write_text(f"{matrix.BEGIN}{matrix.END}\n")
    kept = tmp_path / "matrix.json"
    kept.write_text("{}")
    monkeypatch.setattr(matrix, "PAGE", page)
    monkeypatch.setattr(matrix, "RESULTS", kept)
    monkeypatch.setattr(matrix, "python_version", lambda _: "3.12")
    ran = []

    def run_cell(pyspark, python, torch, index, tests):
        ran.append((pyspark, torch, index))
        return result(passed=torch != "2.11.0")

    monkeypatch.setattr(matrix, "run_cell", run_cell)
    chosen = ["--python", sys.executable, "--pyspark", "4.1.3", "--torch", "2.7.1", "2.11.0"]
    monkeypatch.setattr(sys, "argv", ["matrix.py", *chosen, "--tests", "one.py"])
    assert matrix.main() == 1
    assert kept.read_text() == "{}"
    monkeypatch.setattr(sys, "argv", ["matrix.py", *chosen, "--index", ""])
    assert matrix.main() == 1
    assert ran[2:] == [("4.1.3", "2.7.1", ""), ("4.1.3", "2.11.0", "")]
    assert "| 4.1.3 | 3.12 | 5 tests pass | **fails** | not tested |" in page.read_text()
    assert json.loads(kept.read_text())["4.1.3"]["3.12"]["2.7.1"]["passed"]


def test_the_versions_are_those_that_the_package_and_the_build_name(matrix):
    torches = [tuple(map(int, each.split(".")[:2])) for each in matrix.TORCHES]
    private = (SHIM / "src" / "spark_collectives" / "torch" / "private.py").read_text()
    assert f"OLDEST = {torches[0]}" in private
    assert f"NEWEST = {torches[-1]}" in private
    project = (SHIM / "pyproject.toml").read_text()
    assert f'requires-python = ">={matrix.PYTHONS[0]}"' in project
    newest = re.search(r"<spark\.version>(.*?)<", (SHIM.parent / "pom.xml").read_text())[1]
    assert matrix.PYSPARKS[-1] == newest
    profiles = " ".join(matrix.SUITE.PROFILES)
    assert all(each in profiles for each in matrix.PYSPARKS)
