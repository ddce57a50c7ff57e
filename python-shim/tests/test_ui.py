"""The tab and the metrics of the driver's UI, with a group of Python tasks."""

import json
import time
import urllib.request

import numpy as np

import spark_collectives as dist

METRIC = "_driver_plugin_org_sparkcollectives_spark_CollectivesPlugin_"


def get(spark, path):
    with urllib.request.urlopen(spark.sparkContext.uiWebUrl + path, timeout=60) as answer:
        return answer.read().decode()


def metric(spark, name):
    lines = get(spark, "/metrics/prometheus/").splitlines()
    (line,) = (each for each in lines if f"{METRIC}{name}_Value" in each)
    return float(line.rpartition(" ")[2])


def groups(spark):
    return {each["id"]: each for each in json.loads(get(spark, "/collectives/json"))["groups"]}


def test_the_tab_and_the_metrics_have_the_operations_of_a_group(spark, ranks):
    def sums(rank, size):
        values = np.full(1000, rank, dtype=np.float32)
        for step in range(5):
            dist.all_reduce(values)
            dist.world().progress(step + 1, 8, f"rank {rank}")
        return size

    known, operations = groups(spark), metric(spark, "operations")
    assert ranks(sums, 3) == [3, 3, 3]
    deadline = time.monotonic() + 60
    while True:
        new = [each for each in groups(spark).values() if each["id"] not in known]
        # The group of an earlier test may be reported as late as this one.
        closed = [each for each in new if each["size"] == 3 and each["state"] == "CLOSED"]
        if closed:
            break
        assert time.monotonic() < deadline, [list(each.items()) for each in new]
        time.sleep(0.1)
    group = max(closed, key=lambda each: each["id"])
    assert group["operations"] == 3 * 5
    # Groups of earlier tests may have been reported since.
    assert metric(spark, "operations") >= operations + 3 * 5
    page = get(spark, f"/collectives/group/?id={group['id']}")
    assert group["name"] in page
    assert "5 of 8" in page
    assert "rank 0" in page
    assert "/collectives/" in get(spark, "/jobs/")
