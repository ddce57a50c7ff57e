"""The methods of the group object of torch, beside those of torch's own backend."""

import re

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch_argument_cases as cases
from torch_ranks import IS_NEWEST, ranks_of_torch


def test_every_form_of_every_method_does_what_gloo_does(spark):
    ours = ranks_of_torch(spark, cases.all_forms, 2)
    assert ours == ranks_of_torch(spark, cases.all_forms, 2, "gloo")
    assert len(ours[0]) == 30
    assert ours[0]["allgather two"] == [[0.0], [10.0], [1.0], [11.0]] * 2


def test_several_tensors_of_one_rank_are_reduced_together(spark):
    ours = ranks_of_torch(spark, cases.several_tensors, 2)
    assert ours == ranks_of_torch(spark, cases.several_tensors, 2, "gloo")
    assert ours[0]["broadcast"] == [11.0, 11.0]


@pytest.mark.parametrize("backend", ["spark", "gloo"])
def test_the_sequence_number_of_a_group_counts_its_collectives(spark, backend):
    assert ranks_of_torch(spark, cases.sequence_numbers, 2, backend) == [4, 4]


@pytest.mark.parametrize("backend", ["spark", "gloo"])
def test_a_wrong_argument_is_refused_in_the_words_that_pytorchs_tests_look_for(spark, backend):
    told, others = ranks_of_torch(spark, cases.refusals, 2, backend)
    assert len(told) == len(cases.REFUSED) and others == []
    for index, is_runtime_error, text in told:
        words = cases.REFUSED[index][0]
        assert is_runtime_error and re.search(words, text), (index, words, text)


def test_lists_that_do_not_fit_are_refused_before_anything_begins(spark):
    refused, others = ranks_of_torch(spark, cases.lists_that_do_not_fit, 2)
    assert refused == [*["reduce_scatter"] * 2, *["allgather"] * 5, "gather"]
    assert others == []


def test_tensors_without_elements_are_gathered(spark):
    assert ranks_of_torch(spark, cases.tensors_without_elements, 2) == [True, True]


def test_a_monitored_barrier_names_who_has_not_come_in_torchs_words(spark):
    first, every, at_once = ranks_of_torch(spark, cases.missed_barriers, 3)[0]
    assert first.startswith("Rank 1 failed to pass monitoredBarrier in 100 ms")
    assert every.startswith("Ranks 1, 2 failed to pass monitoredBarrier in 100 ms")
    assert at_once.startswith("Rank 0 timed out in monitoredBarrier")


@pytest.mark.skipif(not IS_NEWEST, reason="the barrier of this torch has no timeout")
def test_a_missed_deadline_is_told_in_torchs_words_and_kind(spark):
    waited, barrier = ranks_of_torch(spark, cases.late_works, 2)[0]
    assert waited[0] and barrier[0]
    assert waited[1].startswith("[spark] Timed out waiting 50ms for recv")
    assert barrier[1].startswith("[spark] Timed out waiting 1ms for barrier")


def test_an_error_is_of_the_librarys_kind_and_of_torchs():
    import pickle

    import torch.distributed as dist

    from spark_collectives import errors
    from spark_collectives.torch import errors as of_torch

    late = errors.CollectiveTimeoutError("rank 1 is late")
    late.missing_ranks = (1,)
    made = pickle.loads(pickle.dumps(of_torch.of_torch(late, "Timed out")))
    assert isinstance(made, errors.CollectiveTimeoutError)
    assert isinstance(made, dist.DistBackendError)
    assert made.missing_ranks == (1,) and str(made) == "Timed out: rank 1 is late"
    lost = of_torch.of_torch(errors.TransportError("gone"))
    assert isinstance(lost, errors.TransportError) and isinstance(lost, dist.DistNetworkError)
    refused = of_torch.of_torch(ValueError("no"))
    assert isinstance(refused, ValueError) and isinstance(refused, RuntimeError)
    other = KeyError("other")
    assert of_torch.of_torch(other) is other
