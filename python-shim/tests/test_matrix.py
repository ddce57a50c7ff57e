"""The versions of Spark and Java in docs/reference/support-matrix.md, and what tests them."""

import json
import re
from pathlib import Path

import pytest

import scripts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def matrix():
    return scripts.load(ROOT / "spark-plugin/suite/matrix.py")


def test_the_page_has_the_results_of_the_last_run(matrix):
    page = matrix.PAGE.read_text()
    assert matrix.in_page(page, json.loads(matrix.RESULTS.read_text())) == page


def test_each_version_is_that_of_its_profile(matrix):
    pom = (matrix.SUITE / "pom.xml").read_text()
    parent = (ROOT / "pom.xml").read_text()
    for version, profile in matrix.PROFILES.items():
        source = pom.split(f"<id>{profile}</id>")[1] if profile else parent
        spark = re.search(r"<spark\.version>(.*?)<", source)[1]
        assert version.split(",")[0] == spark


def test_the_suites_and_tests_of_a_cell_are_there(matrix):
    sources = {
        each.stem: each.read_text() for each in matrix.SUITE.glob("src/test/*/**/*Suite.scala")
    }
    for suite in matrix.smoke():
        assert any(re.search(rf"^class {suite}\b", text, re.M) for text in sources.values()), suite
    for test in matrix.PYTHON_TESTS:
        assert (Path(__file__).parent / test).exists()


def report(folder, failures, skipped=0):
    text = f'<testsuite tests="7" failures="{failures}" errors="1" skipped="{skipped}"/>'
    path = folder / f"TEST-{failures}.xml"
    path.write_text(text)
    return path


def test_results_are_added_up(matrix, tmp_path):
    reports = [report(tmp_path, 2, skipped=1), report(tmp_path, 0)]
    assert matrix.totals(reports) == {"run": 13, "failed": 4, "skipped": 1}


def test_only_a_cell_whose_tests_passed_is_called_so(matrix, tmp_path):
    def cell(status, reports):
        return matrix.cell({"4.2.0": {"17": matrix.result_of(status, reports)}}, "4.2.0", "17")

    passed = tmp_path / "TEST-passed.xml"
    passed.write_text('<testsuite tests="5" failures="0" errors="0" skipped="0"/>')
    assert cell(0, [passed]) == "5 tests pass"
    assert cell(1, [passed]) == "**fails**"
    assert cell(0, []) == "**fails**"
    assert cell(1, [passed, report(tmp_path, 1)]) == "**fails**: 2 of 12 tests"
    assert matrix.cell({}, "4.2.0", "17") == "not tested"
