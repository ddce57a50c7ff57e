"""The Python samples of the documentation run as they stand there."""

import importlib.util

import pytest

import spark_collectives as dist
from samples import pages, samples

#: Packages that a sample may need.
OPTIONAL = ("torch", "lightgbm")
NEWEST_TORCH = "newest-torch"

#: Samples that another test runs, in an application with other settings.
ELSEWHERE = ("elastic", "elastic-torch")


def compiled(code, sample):
    """Compile code so that an error names the page and the line."""
    return compile("\n" * (sample.line - 1) + code, sample.page, "exec")


def run_on_ranks(spark, sample, names):
    def rank():
        # Code objects cannot be pickled, so each rank compiles the sample.
        exec(sample.before, names)
        exec(compile("\n" * (sample.line - 1) + sample.code, sample.page, "exec"), names)
        return dist.get_rank()

    assert dist.run(rank, 2, spark=spark) == [0, 1]


def optional_kinds():
    """Return the kinds of samples that run with what is installed, beside those that always do."""
    kinds = [each for each in OPTIONAL if importlib.util.find_spec(each) is not None]
    if "torch" in kinds:
        from torch_ranks import IS_NEWEST

        kinds += [NEWEST_TORCH] * IS_NEWEST
    return kinds


@pytest.mark.parametrize("page", pages("python"))
def test_the_samples_of_a_page_run_one_after_another(page, spark):
    # As in the main program of a user: its functions are pickled with what they use.
    names = {"__name__": "__main__", "spark": spark}
    installed = optional_kinds()
    for sample in samples(page, "python"):
        if sample.kind == "rank":
            run_on_ranks(spark, sample, {})
        elif sample.kind == "" or sample.kind in installed:
            exec(sample.before, names)
            exec(compiled(sample.code, sample), names)


def test_every_sample_is_found_and_run():
    found = [sample for page in pages("python") for sample in samples(page, "python")]
    assert len(found) >= 8
    assert {sample.kind for sample in found} <= {"", "rank", NEWEST_TORCH, *OPTIONAL, *ELSEWHERE}
