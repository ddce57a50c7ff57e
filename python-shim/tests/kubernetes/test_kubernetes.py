"""Barrier stages on Kubernetes, whose pods are namespaces of this machine."""

import re
from collections import Counter

import pytest

import kubernetes_page
from kubernetes.cluster import IPV6
from kubernetes.machine import HERE

RANKS = ["--class", "Ranks", "local:///opt/spark/jars/ranks.jar"]


def check_exchange(rows, paths, pods):
    assert [row[0] for row in rows] == ["0", "1", "2", "3"]
    assert [row[2] for row in rows] == ["10.0 10.0"] * 4
    own = [row[1] for row in rows]
    assert len(set(own)) == pods
    assert all(row[3] == " ".join(own) for row in rows), "the objects that were exchanged"
    assert [row[4] for row in rows] == [paths] * 4


def test_ranks_of_a_pod_share_its_heap(cluster):
    application = cluster.submit(*RANKS, "exchange", "4", mode="client")
    rows = application.results()
    # One rank in the same pod, and two in the other one.
    check_exchange(rows, paths="1 0 2", pods=2)
    assert len(set(application.executors().values())) == 2, "a node for each pod"


def test_pods_of_a_node_use_tcp(cluster):
    settings = {"spark.executor.instances": "4", "spark.executor.cores": "1"}
    application = cluster.submit(*RANKS, "exchange", "4", mode="cluster", settings=settings)
    rows = application.results()
    check_exchange(rows, paths="0 0 3", pods=4)
    nodes = Counter(application.executors().values())
    assert sorted(nodes.values()) == [2, 2], nodes
    assert len({row[5] for row in rows}) == 2, "the boot id is the node's"
    log = cluster.pod_log(rows[0][1])
    assert "pairs of ranks: heap 0, shm 0, tcp 6" in log, log


def test_ranks_encrypt_where_spark_does(cluster):
    settings = {
        "spark.authenticate": "true",
        "spark.network.crypto.enabled": "true",
        "spark.collectives.port": "29600",
        "spark.blockManager.port": "29500",
    }
    application = cluster.submit(*RANKS, "exchange", "4", mode="cluster", settings=settings)
    rows = application.results()
    check_exchange(rows, paths="1 0 2", pods=2)
    assert [row[6] for row in rows] == ["true"] * 4, "Spark has made a secret for the pods"
    assert "encrypts with TLS" in rows[0][7], rows


def check_python(application, shared_memory):
    rows = application.results()
    assert [row[:2] for row in rows] == [[str(rank), "10.0 10.0"] for rank in range(4)]
    pods = rows[0][2]
    assert [row[2] for row in rows] == [pods] * 4
    assert len(set(pods.split())) == 2
    assert [row[3] for row in rows] == [str(shared_memory)] * 4


def test_python_ranks_need_no_more_shared_memory_than_a_container_has(cluster):
    application = cluster.submit(f"local://{HERE}/python_ranks.py", mode="cluster")
    check_python(application, shared_memory=64)


def submit_as_on_the_page(cluster, program):
    settings = kubernetes_page.settings()
    assert settings.pop("spark.master").startswith("k8s://")
    for name in ("app.name", "kubernetes.container.image", "kubernetes.namespace"):
        del settings[f"spark.{name}"]
    smaller = kubernetes_page.smaller_settings()
    assert smaller.keys() <= settings.keys()
    return cluster.submit(program, mode="cluster", settings={**settings, **smaller})


def test_the_command_of_the_page_trains_on_digits(cluster):
    application = submit_as_on_the_page(cluster, kubernetes_page.command()[-1])
    output = application.await_end()
    (accuracy,) = re.findall(r"^accuracy on images held out: (\d+\.\d)%$", output, re.MULTILINE)
    assert float(accuracy) > 90
    assert len(application.executors()) == 2


def test_the_command_of_the_page_gives_python_ranks_shared_memory(cluster):
    application = submit_as_on_the_page(cluster, f"local://{HERE}/python_ranks.py")
    check_python(application, shared_memory=512)


@pytest.fixture(scope="module")
def ipv6_cluster(start):
    return start(2, 2, prefix=IPV6)


def test_pods_have_addresses_of_ipv6(ipv6_cluster):
    prefer = "-Djava.net.preferIPv6Addresses=true"
    settings = {
        "spark.driver.extraJavaOptions": prefer,
        "spark.executor.extraJavaOptions": prefer,
    }
    application = ipv6_cluster.submit(*RANKS, "exchange", "4", mode="client", settings=settings)
    check_exchange(application.results(), paths="1 0 2", pods=2)
