"""PyTorch's own tests of torch.distributed, on the backend "spark".

docs/reference/pytorch-suite.md says more.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")
pytest.importorskip("expecttest", reason="PyTorch's tests need it: pip install expecttest")

from pytorch_suite import CONTROL, OURS, RANKS, results, table
from pytorch_suite.exceptions import EXCEPTIONS
from pytorch_suite.outcome import FAILED, PASSED, SKIPPED, TIMED_OUT, Outcome, of_all, one_line
from pytorch_suite.sample import SAMPLE
from torch_ranks import IS_NEWEST

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent.parent / "docs" / "reference" / "pytorch-suite.md"


def _run(file, seconds, *arguments):
    """Run tests in an application of their own, and return the outcomes and what it printed."""
    command = [sys.executable, "-m", "pytorch_suite", "--results", str(file), *arguments]
    ended = subprocess.run(
        command,
        cwd=TESTS,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=seconds,
    )
    assert file.exists(), ended.stdout
    return results.read(file), ended


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    file = tmp_path_factory.mktemp("pytorch") / "sample.json"
    return _run(file, 900, "--backend", OURS, *SAMPLE)[0]


@pytest.mark.skipif(not IS_NEWEST, reason="the sample is of the tests of the newest torch")
@pytest.mark.parametrize("name", SAMPLE)
def test_a_test_of_the_sample_passes(outcomes, name):
    assert outcomes[name][OURS] == Outcome(PASSED)


def test_the_sample_has_forty_tests_that_pass_on_the_control():
    written = table.read(PAGE)
    assert len(set(SAMPLE)) == 40
    assert [each for each in SAMPLE if written[each][CONTROL].kind != PASSED] == []


def test_the_page_has_all_tests_and_no_difference_without_a_reason():
    import torch

    written = table.read(PAGE)
    if f"torch {torch.__version__.partition('+')[0]}" in PAGE.read_text():
        assert sorted(written) == cases_in_a_process()
    assert results.complaints(written) == []
    assert len(EXCEPTIONS) <= 5
    page = PAGE.read_text()
    assert [each for each in EXCEPTIONS if f"`{each}`:" not in page] == []


def cases_in_a_process():
    """Return the names of the tests; their module changes the environment of its process."""
    program = "from pytorch_suite import cases; print(*cases.names())"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=TESTS,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=True,
    ).stdout.split()


def test_the_page_has_pytorchs_tests_of_reconfigure_and_no_difference_without_a_reason():
    written = table.read(PAGE, table.RECONFIGURE)
    assert len(written) == 13
    assert [each for each in written if written[each][CONTROL].kind not in (PASSED, SKIPPED)] == []
    assert results.complaints(written) == []


@pytest.mark.skipif("COLLECTIVES_PYTORCH_SOURCES" not in os.environ, reason="takes its sources")
@pytest.mark.pytorch_suite
def test_all_tests_of_reconfigure_that_pass_on_the_control_pass(tmp_path):
    sources = Path(os.environ["COLLECTIVES_PYTORCH_SOURCES"])
    file = sources / "test" / "distributed" / "test_c10d_fault_tolerance.py"
    _, ended = _run(tmp_path / "all.json", 3600, "--reconfigure", str(file))
    assert ended.returncode == 0, ended.stdout


@pytest.mark.pytorch_suite
def test_all_tests_that_pass_on_the_control_pass(tmp_path):
    _, ended = _run(tmp_path / "all.json", 7200, "--full")
    assert ended.returncode == 0, ended.stdout


def test_a_test_ends_as_its_worst_rank():
    passed, skipped = Outcome(PASSED), Outcome(SKIPPED, "no CUDA")
    all_ranks = dict.fromkeys(range(RANKS), passed)
    assert of_all(all_ranks, RANKS) == passed
    assert of_all(dict.fromkeys(range(RANKS), skipped), RANKS) == skipped
    assert of_all({**all_ranks, 2: Outcome(FAILED, "why")}, RANKS) == Outcome(FAILED, "rank 2: why")
    late = {**all_ranks, 0: Outcome(FAILED, "why"), 1: Outcome(TIMED_OUT, "in wait")}
    assert of_all(late, RANKS) == Outcome(TIMED_OUT, "rank 1: in wait")
    assert of_all({0: passed}, RANKS) == Outcome(FAILED, "the process of rank 1 ended")


def test_a_reason_is_one_short_line():
    assert one_line("a\n  b") == "a b"
    assert one_line("at 0x7f00ab") == "at 0x…"
    assert len(one_line("word " * 100)) == 160


def test_what_is_written_into_a_page_is_read_again(tmp_path):
    page = tmp_path / "page.md"
    begin, end = table.markers()
    page.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    found = {
        "test_a": {CONTROL: Outcome(PASSED), OURS: Outcome(FAILED, "rank 0: no")},
        "test_b": {CONTROL: Outcome(SKIPPED, "a / b"), OURS: Outcome(PASSED)},
        "test_c": dict.fromkeys((CONTROL, OURS), Outcome(PASSED)),
        "test_d": dict.fromkeys((CONTROL, OURS), Outcome(SKIPPED, "needs: a GPU")),
        "test_e": dict.fromkeys((CONTROL, OURS), Outcome(PASSED)),
    }
    table.write(page, found, "torch 1")
    assert table.read(page) == found
    assert page.read_text().startswith("before\n")
    assert page.read_text().endswith("\nafter\n")
    assert "old" not in page.read_text()


def test_a_test_that_passes_on_the_control_alone_fails_the_build():
    late = {CONTROL: Outcome(PASSED), OURS: Outcome(TIMED_OUT, "rank 0: in wait")}
    assert results.complaints({"test_a": late}) == [
        "test_a passes on gloo, and on spark it has timed out: rank 0: in wait"
    ]
    for kind in (SKIPPED, FAILED):
        assert results.complaints({"test_a": {CONTROL: Outcome(kind), OURS: Outcome(FAILED)}}) == []
