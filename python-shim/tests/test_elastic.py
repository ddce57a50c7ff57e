"""Replicas that go on when executors are lost."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from processes import run
from samples import samples
from spark_collectives import elastic
from spark_collectives.elastic import _packing

TESTS = Path(__file__).parent

SCENARIOS = ("errors", "cancelled", "rows_of_a_dataframe", "executor_killed")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Run the scenarios in an application of its own, and return what each has found."""
    folder = tmp_path_factory.mktemp("elastic")
    package = Path(elastic.__file__).parents[2]
    torch = ("torch_trained", "torch_parts") if has_torch() else ()
    run(
        sys.executable,
        TESTS / "elastic_program.py",
        folder,
        *SCENARIOS,
        *torch,
        "page",
        cwd=folder,
        PYTHONPATH=os.pathsep.join((str(package), str(TESTS))),
    )
    return lambda name: json.loads((folder / name).read_text())


def has_torch():
    import importlib.util

    return importlib.util.find_spec("torch") is not None


def test_when_an_executor_is_killed_the_others_go_on_and_all_states_are_the_replay(found):
    trained = found("executor_killed")
    assert trained["attempts"] == [0, 1, 0]
    assert trained["same"] and trained["replayed"]
    assert trained["without"] > 0
    assert trained["batches"] == [trained["participants"]] * 3


def test_modules_and_optimizers_of_torch_have_one_state_after_a_worker_was_killed(found):
    pytest.importorskip("torch", reason="torch is not installed")
    trained = found("torch_trained")
    assert (trained["states"], trained["steps"]) == (1, 1)
    assert trained["loss"] < 0.1


def test_a_part_that_only_some_replicas_use_is_the_same_on_all(found):
    pytest.importorskip("torch", reason="torch is not installed")
    assert found("torch_parts") == {"same": True, "moved": [[0.15, 0.15]]}


def test_a_reduction_that_does_not_begin_on_one_replica_is_repeated_by_all(found):
    assert found("errors")["cannot begin"][-2:] == [False, True]


def test_partitions_of_a_dataframe_are_replicas_and_one_that_comes_too_late_ends(found):
    # The means of three partitions of ten numbers: the fourth one had no slot.
    assert found("rows_of_a_dataframe") == {"participants": 3, "means": [14.5] * 5}


def test_what_a_function_throws_is_raised_with_its_stack(found):
    kind, text, cause = found("errors")["thrown"]
    assert (kind, text) == ("OwnError", "in step 0")
    assert "Rank 1" in cause and "in fails" in cause


def test_an_error_that_one_replica_reports_makes_all_repeat_the_step(found):
    assert found("errors")["repeated"] == [[0, False], [0, True], [1, True]]


def test_calls_out_of_order_and_what_cannot_be_reduced_are_refused(found):
    texts = found("errors")["misused"]
    expected = (
        "RuntimeError: Register the state",
        "RuntimeError: start_quorum() must begin a step before allreduce()",
        "RuntimeError: start_quorum() must begin a step before should_commit()",
        'ValueError: State "state" is registered twice',
        "RuntimeError: Step 0 has begun",
        'RuntimeError: State "set_state_dict_fns" must be registered before',
        "ValueError: should_quantize",
        "ValueError: all-reduce of group",
        "GroupClosedError: The replicas of an elastic stage are not the ranks",
    )
    assert len(texts) == len(expected)
    for text, begin in zip(texts, expected):
        assert text.startswith(begin)


def test_a_state_for_which_there_is_no_memory_is_moved_in_the_next_quorum(found):
    assert found("errors")["starved"] == 2


def test_replicas_with_other_states_and_too_few_partitions_are_refused(found):
    errors = found("errors")
    assert "have states that differ" in errors["differ"]
    assert "state-0 of any size, and state-1 of any size" in errors["differ"]
    assert "min_replicas is 3" in errors["too few"]


def test_a_run_that_waits_for_replicas_ends_when_its_job_is_cancelled(found):
    assert found("cancelled") == {"ended": ["RuntimeError"], "freed": 3}


def test_the_samples_of_the_page_run(found):
    kinds = [sample.kind for sample in samples("docs/guide/elastic.md", "python")]
    assert found("page") == {"kinds": kinds}
    assert kinds == ["elastic", "elastic-torch"]


def test_settings_that_end_a_run_with_some_lost_executors_are_refused(spark):
    rows = spark.sparkContext.parallelize(range(2), 2)
    with pytest.raises(RuntimeError, match=r"set --conf spark\.task\.maxFailures=1000"):
        elastic.run(rows, lambda manager, rows: None)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"min_replicas": 0}, "min_replicas must be 1 or more, not 0"),
        ({"checkpoint_interval": 0}, "checkpoint_interval must be 1 or more, not 0"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        elastic.run(None, print, **options)


def test_rows_that_are_no_partitions_are_refused():
    with pytest.raises(TypeError, match="RDD or a DataFrame, not a list"):
        elastic.run([1, 2], print)


class Held:
    """An object with an array in it."""

    def __init__(self, array):
        self.array = array


@pytest.mark.parametrize("size", [0, 1, 7, 100_000])
def test_a_state_is_unpacked_as_it_was_packed(size):
    numbers = np.arange(size, dtype=np.float32)
    state = {"held": Held(numbers), "text": "é", "strided": numbers[::2], "none": None}
    packed = _packing.pack(state)
    found = _packing.unpack(packed)
    assert (found["held"].array == numbers).all() and (found["strided"] == numbers[::2]).all()
    assert (found["text"], found["none"]) == ("é", None)
    found["held"].array[:] = 1
    # Arrays are not in the pickle, which would need memory for them again.
    assert packed.nbytes < 6 * size + 4096


def test_tensors_are_packed_whatever_their_type_and_layout():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    state = [
        torch.arange(6.0).reshape(2, 3).t(),
        torch.ones(3, dtype=torch.bfloat16),
        torch.tensor([True, False]),
        torch.tensor(7),
        torch.empty(0, 3),
        torch.tensor([1 + 2j]).conj(),
        torch.nn.Parameter(torch.ones(2)),
        torch.nn.Parameter(torch.ones(2), requires_grad=False),
        torch.ones(2, requires_grad=True),
        torch.eye(2).to_sparse(),
    ]
    found = _packing.unpack(_packing.pack(state))
    for before, after in zip(state, found):
        assert (before.dtype, before.shape) == (after.dtype, after.shape)
        assert type(before) is type(after) and before.requires_grad == after.requires_grad
        assert torch.equal(before.detach().to_dense(), after.detach().to_dense())
