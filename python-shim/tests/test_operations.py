import pytest

import operation_cases as cases

#: Ranks, and whether they map the JVM's memory or send their arrays through the socket.
WORLDS = [(1, True), (2, True), (4, True), (2, False)]


@pytest.fixture(scope="module")
def outcomes(spark):
    import spark_collectives as dist

    found = {}
    context = spark.sparkContext
    for size, mapped in WORLDS:

        def task(_rows, mapped=mapped):
            dist.init_process_group(timeout=60)
            yield cases.run_all(dist.get_rank(), dist.get_world_size(), mapped)

        rows = context.parallelize(range(size), size).barrier().mapPartitions(task).collect()
        found[size, mapped] = rows
    return found


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: f"{world[0]}-{world[1]}")
@pytest.mark.parametrize("operation", [each.__name__ for each in cases.OPERATIONS])
def test_an_operation_returns_what_numpy_computes(outcomes, operation, world):
    for rank, by_case in enumerate(outcomes[world]):
        for dtype in cases.DTYPES:
            assert not by_case[operation, dtype], (rank, dtype, by_case[operation, dtype])
