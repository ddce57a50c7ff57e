"""The network policy of the examples, carried out by nftables."""

import shutil

import pytest

from kubernetes.cluster import EXAMPLES, NAMESPACE
from kubernetes.test_kubernetes import RANKS, check_exchange

POLICY = EXAMPLES / "network-policy.yaml"
LABELS = {"spark-app-name": "training", "spark-role": "driver"}
PORTS = {"spark.collectives.port": "29600", "spark.blockManager.port": "29500"}
NO_WAITING = {
    "spark.shuffle.io.connectionTimeout": "5s",
    "spark.shuffle.io.connectionCreationTimeout": "5s",
    "spark.shuffle.io.maxRetries": "0",
    "spark.task.maxFailures": "1",
}

#: Nothing may connect to a pod, unless another policy allows it.
CLOSED = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "closed", "namespace": NAMESPACE},
    "spec": {
        "podSelector": {"matchLabels": {"spark-role": "executor"}},
        "policyTypes": ["Ingress"],
        "ingress": [],
    },
}


@pytest.fixture
def policy(cluster):
    if not shutil.which("nft"):
        pytest.skip("policies are carried out by nft")
    assert cluster.create(CLOSED, POLICY) == ""
    yield
    assert cluster.tell("delete-policy", NAMESPACE, "closed") == ""
    assert cluster.tell("delete-policy", NAMESPACE, "training-executors") == ""


def submit(cluster, mode, labels=None, **settings):
    # The name of the application is a label of its pods.
    given = {**PORTS, **settings, "spark.app.name": "training"}
    return cluster.submit(*RANKS, "exchange", "4", mode=mode, settings=given, labels=labels)


def check_policy_was_carried_out(application):
    log = application.cluster.log()
    assert "no policy for" not in log, log
    for pod in application.executors():
        assert f"policy for {pod}" in log, log


@pytest.mark.parametrize(("mode", "labels"), [("cluster", None), ("pod", LABELS)])
def test_the_policy_lets_through_what_an_application_needs(cluster, policy, mode, labels):
    application = submit(cluster, mode, labels)
    check_exchange(application.results(), paths="1 0 2", pods=2)
    # The driver fetches large results from the executors.
    assert "LARGE\t4" in application.output(), application.said()
    check_policy_was_carried_out(application)


def test_large_results_need_the_labels_of_the_driver(cluster, policy):
    application = submit(cluster, "pod", {"app": "notebook"}, **NO_WAITING)
    output = application.await_end(fails=True)
    assert output.count("\nRESULT\t") == 4, application.said()
    assert "LARGE" not in output
    assert "TaskResultLost" in output, application.said()
    check_policy_was_carried_out(application)


def test_ports_that_the_policy_does_not_open_are_closed(cluster, policy):
    short = {"spark.collectives.timeout": "20s", "spark.collectives.store.timeout": "20s"}
    settings = {**short, "spark.collectives.port": "29700"}
    # In cluster mode Spark's own policy opens all ports.
    application = submit(cluster, "pod", LABELS, **settings)
    output = application.await_end(fails=True)
    assert "CollectiveTimeoutException: all-reduce #0" in output, application.said()
    assert "still connecting: rank " in output, application.said()
    assert ":29700" in output
    assert "\nRESULT\t" not in output
    check_policy_was_carried_out(application)
