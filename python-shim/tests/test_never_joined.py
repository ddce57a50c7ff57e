"""A rank that ends before it joins its group: the other ranks, which wait for it, name it."""

import json
import os
import time

import pytest
from pyspark import BarrierTaskContext

import spark_collectives as dist

SIZE = 4
ABSENT = 1


@pytest.mark.parametrize("way", ["returns", "raises", "exits"])
def test_a_rank_that_ends_before_it_joins_is_named_by_the_others(spark, tmp_path, way):
    folder = str(tmp_path)

    def path(name):
        return os.path.join(folder, name)

    def task(_rows):
        rank = BarrierTaskContext.get().partitionId()
        if rank == ABSENT:
            others = [path(f"joins-{other}") for other in range(SIZE) if other != ABSENT]
            while not all(os.path.exists(other) for other in others):
                time.sleep(0.01)
            time.sleep(0.1)
            with open(path("ended.part"), "w") as file:
                json.dump(time.time(), file)
            os.rename(path("ended.part"), path("ended"))
            if way == "raises":
                raise KeyError("no such column")
            if way == "exits":
                os._exit(3)
            return
        open(path(f"joins-{rank}"), "w").close()
        try:
            dist.init_process_group()
        except BaseException as e:
            with open(path(f"{rank}.part"), "w") as file:
                noticed = [type(e).__name__, getattr(e, "rank", None), str(e), time.time()]
                json.dump(noticed, file)
            os.rename(path(f"{rank}.part"), path(f"{rank}.json"))
            raise
        yield rank

    rows = spark.sparkContext.parallelize(range(SIZE), SIZE)
    with pytest.raises(Exception, match=r"no such column|rank 1|exited unexpectedly"):
        rows.barrier().mapPartitions(task).collect()
    with open(path("ended")) as file:
        ended = json.load(file)
    deadline = time.monotonic() + 30
    millis = []
    for rank in (0, 2, 3):
        while not os.path.exists(path(f"{rank}.json")):
            assert time.monotonic() < deadline, f"rank {rank} has not noticed"
            time.sleep(0.02)
        with open(path(f"{rank}.json")) as file:
            kind, named, text, at = json.load(file)
        assert kind == "PeerFailedError", text
        assert named == ABSENT
        expected = {
            "returns": "returned without joining",
            "raises": "no such column",
            "exits": "exited unexpectedly",
        }
        assert expected[way] in text
        millis.append(1000 * (at - ended))
    print(f"a rank that {way} is named after {sorted(millis)[1]:.0f} ms")
