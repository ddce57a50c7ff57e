"""``iterate``, which runs a loop over rows as one barrier stage."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

import spark_collectives as dist
from spark_collectives import _rank_order_sum

DIGITS = Path(__file__).parents[2] / "examples" / "data" / "digits.csv"


def digits():
    """Return rows of 64 features and a label, 0 or 1."""
    values = np.loadtxt(DIGITS, delimiter=",")
    values[:, :-1] /= 16
    values[:, -1] = values[:, -1] >= 5
    return values


def gradient(weights, rows, iteration):
    values = np.asarray(rows)
    errors = 1 / (1 + np.exp(-values[:, :-1] @ weights)) - values[:, -1]
    return values[:, :-1].T @ errors


def step(weights, total, iteration):
    return weights - 2e-4 * total


def test_gradient_descent_is_that_of_a_loop_of_tree_aggregate(spark):
    values = digits()
    rows = spark.sparkContext.parallelize(values.tolist(), 4)

    expected = np.zeros(64)
    for _ in range(5):
        total = rows.mapPartitions(lambda part, weights=expected: [gradient(weights, [*part], 0)])
        expected = expected - 2e-4 * total.treeAggregate(np.zeros(64), np.add, np.add)

    result = dist.iterate(
        rows, np.zeros(64), gradient, step, 5, loss=lambda weights, total, i: np.abs(total).max()
    )
    np.testing.assert_allclose(result.state, expected, rtol=1e-12, atol=1e-12)
    assert result.iterations == 5
    assert not result.converged
    assert len(result.losses) == 5
    again = dist.iterate(rows, np.zeros(64), gradient, step, 5)
    assert again.state.tobytes() == result.state.tobytes()


def test_ranks_whose_executor_is_lost_go_on_to_the_same_bits(spark, tmp_path):
    rows = spark.sparkContext.parallelize(digits().tolist(), 3)
    expected = dist.iterate(rows, np.zeros(64), gradient, step, 9).state
    mark = str(tmp_path / "mark")

    def killing(weights, part, iteration):
        from pyspark import TaskContext

        if TaskContext.get().partitionId() == 2:
            if iteration == 7 and not os.path.exists(mark):
                with open(mark, "w"):
                    pass
                # The parent of the parent is the JVM of the executor.
                daemon = int(Path(f"/proc/{os.getppid()}/stat").read_text().split()[3])
                os.kill(daemon, signal.SIGKILL)
            elif os.path.exists(mark) and os.path.getsize(mark) == 0:
                with open(mark, "w") as file:
                    file.write(str(iteration))
        return gradient(weights, part, iteration)

    conf = spark.sparkContext._jsc.sc().conf()
    conf.set("spark.collectives.preflight.timeout", "2min")
    result = dist.iterate(
        rows, np.zeros(64), killing, step, 9, checkpoint_interval=3, stage_retry=True
    )
    assert result.state.tobytes() == expected.tobytes()
    assert Path(mark).read_text() == "7"


def test_a_state_may_be_any_object_and_partitions_empty(spark):
    rows = spark.sparkContext.parallelize([1.0, 2.0, 10.0, 11.0], 4).filter(lambda x: x != 2)

    def assign(centers, values, iteration):
        sums = np.zeros((2, 2))
        for value in values:
            closest = min((0, 1), key=lambda i: abs(value - centers["at"][i]))
            sums[closest] += [value, 1]
        return sums

    def move(centers, total, iteration):
        return {"at": (total[:, 0] / total[:, 1]).tolist(), "moved": iteration}

    result = dist.iterate(
        rows,
        {"at": [0.0, 6.0]},
        assign,
        move,
        10,
        load=lambda part: np.array(list(part)),
        stop=lambda before, after, i: before["at"] == after["at"],
    )
    assert result.state == {"at": [1.0, 10.5], "moved": 2}
    assert result.converged
    assert result.iterations == 2


def test_the_rows_of_a_dataframe_come_as_a_table(spark):
    frame = spark.range(0, 10, 1, 3).filter("id > 3")

    def total(state, table, iteration):
        return [table.num_rows, np.sum(table.column("id").to_numpy())]

    result = dist.iterate(frame, np.zeros(2), total, lambda _, summed, i: summed, 1)
    assert result.state.tolist() == [6, sum(range(4, 10))]


def test_large_contributions_are_added_in_the_order_of_the_ranks(spark):
    count = 50_001
    assert count * 8 * 3 > _rank_order_sum._LARGEST_ALONE_BYTES

    def own(rank):
        return np.random.default_rng(rank).normal(size=(count, 1)) * 10.0**rank

    rows = spark.sparkContext.parallelize(range(3), 3)
    result = dist.iterate(
        rows, np.zeros((count, 1)), lambda _, part, i: own(part[0]), lambda _, total, i: total, 2
    )
    assert result.state.tobytes() == (own(0) + own(1) + own(2)).tobytes()


def test_an_array_that_is_updated_in_place_is_compared_with_what_it_was(spark):
    def halve(state, total, iteration):
        state /= 2
        return state

    result = dist.iterate(
        spark.sparkContext.parallelize([1, 2], 2),
        np.ones(1),
        lambda state, rows, i: 0,
        halve,
        20,
        stop=lambda before, after, i: before[0] - after[0] < 0.1,
    )
    assert result.iterations == 4
    assert result.state.tolist() == [1 / 16]


def test_a_function_that_raises_names_rank_and_iteration(spark):
    def fail(state, rows, iteration):
        if iteration == 3 and rows == [2]:
            raise LookupError("no such shard")
        return [0.0]

    rows = spark.sparkContext.parallelize([1, 2], 2)
    with pytest.raises(dist.IterationError, match="no such shard") as error:
        dist.iterate(rows, np.zeros(1), fail, lambda state, total, i: state, 5)
    assert (error.value.rank, error.value.iteration) == (1, 3)
    assert "Rank 1 failed in iteration 3, in its contribution" in str(error.value)
    assert "in fail" in str(error.value.__cause__)
    with pytest.raises(dist.IterationError, match=r"float64 with the shape \(2,\)"):
        dist.iterate(rows, np.zeros(1), lambda *_: [0.0], lambda *_: np.zeros(2), 5)


def test_contributions_that_differ_in_shape_are_refused_with_the_ranks(spark):
    rows = spark.sparkContext.parallelize(range(5), 4)
    with pytest.raises(ValueError, match=r"\(1,\) on ranks 0, 1, 2, \(2,\) on rank 3"):
        dist.iterate(rows, 0.0, lambda state, part, i: part, lambda state, total, i: state, 2)
    with pytest.raises(ValueError, match="None of the 4 partitions has a row"):
        dist.iterate(rows.filter(lambda _: False), 0.0, gradient, step, 2)


EMPTY = {
    "limited to none": lambda rows: rows.limit(0),
    "without partitions": lambda rows: rows.sparkSession.createDataFrame([], rows.schema),
    "filtered": lambda rows: rows.where("hash(id) = 12345"),
    "filtered before a shuffle": lambda rows: rows.where("hash(id) = 12345").repartition(3),
    "filtered after a shuffle": lambda rows: rows.repartition(3).where("hash(id) = 12345"),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_a_dataframe_without_rows_is_refused(spark, kind):
    rows = EMPTY[kind](spark.range(0, 10, 1, 2))
    with pytest.raises(ValueError, match=r"There are no partitions|None of the . partitions has"):
        dist.iterate(rows, 0.0, gradient, step, 2)


def test_rows_left_in_one_partition_of_a_dataframe_are_enough(spark):
    rows = spark.range(0, 10, 1, 3).repartition(3, "id").where("id = 7")
    result = dist.iterate(
        rows, 0.0, lambda state, table, i: table.num_rows, lambda state, total, i: total, 2
    )
    assert result.state == 1


def test_wrong_arguments_are_refused(spark):
    rows = spark.sparkContext.parallelize(range(2), 2)
    with pytest.raises(ValueError, match="max_iterations must be 1 or more, not 0"):
        dist.iterate(rows, 0.0, gradient, step, 0)
    with pytest.raises(ValueError, match="checkpoint_interval must be 1 or more, not -1"):
        dist.iterate(rows, 0.0, gradient, step, 1, checkpoint_interval=-1, stage_retry=True)
    with pytest.raises(ValueError, match="stage_retry"):
        dist.iterate(rows, 0.0, gradient, step, 1, checkpoint_interval=1)
    with pytest.raises(TypeError, match="an RDD or a DataFrame, not a list"):
        dist.iterate([1, 2], 0.0, gradient, step, 1)
    with pytest.raises(ValueError, match="None"):
        dist.iterate(rows, None, gradient, step, 1)
    conf = spark.sparkContext._jsc.sc().conf()
    before = conf.get("spark.collectives.preflight.timeout", "")
    conf.set("spark.collectives.preflight.timeout", "0s")
    try:
        for many in (rows.repartition(100), spark.range(0, 100, 1, 100)):
            with pytest.raises(RuntimeError, match="100 partitions"):
                dist.iterate(many, 0.0, gradient, step, 1)
    finally:
        if before:
            conf.set("spark.collectives.preflight.timeout", before)
        else:
            conf.remove("spark.collectives.preflight.timeout")
