import spark_collectives
from spark_collectives import distributed


def test_the_module_has_what_programs_of_torch_distributed_look_for_in_it():
    for name in ("ProcessGroup", "ReduceOp", "Store", "Work"):
        assert getattr(distributed, name) is getattr(spark_collectives, name)


def test_all_lists_what_the_module_has():
    assert all(hasattr(distributed, name) for name in distributed.__all__)
