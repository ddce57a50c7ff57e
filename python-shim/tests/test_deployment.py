"""What the page on Kubernetes and its files say, by Spark's own code; there is no cluster."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kubernetes_page
from kubernetes_page import PAGE
from samples import ROOT

FILES = ROOT / "examples" / "kubernetes"


def settings():
    return {**kubernetes_page.settings(), "spark.app.id": "spark-1"}


def conf_of(jvm, given):
    conf = jvm.org.apache.spark.SparkConf(False)
    for name, value in given.items():
        conf.set(name, value)
    return conf


@pytest.fixture
def jvm(spark):
    return spark.sparkContext._jvm


@pytest.fixture
def executor(jvm):
    """Make the pod and the container of an executor as Spark does."""

    def make(given):
        conf = conf_of(jvm, {**given, "spark.driver.host": "driver", "spark.driver.port": "7078"})
        none = jvm.scala.Option.empty()
        executor_conf = jvm.org.apache.spark.deploy.k8s.KubernetesConf.createExecutorConf(
            conf, "1", "spark-1", none, 0
        )
        config = getattr(jvm.org.apache.spark.internal.config, "package$")
        secret_file = getattr(config, "MODULE$").AUTH_SECRET_FILE_EXECUTOR()
        security = jvm.org.apache.spark.SecurityManager(conf, none, secret_file)
        security.initializeAuth()
        # The default profile is that of the running application.
        resource = jvm.org.apache.spark.resource
        of_executor = (
            resource.ExecutorResourceRequests()
            .cores(int(given["spark.executor.cores"]))
            .memory(given["spark.executor.memory"])
            .memoryOverhead(given["spark.executor.memoryOverhead"])
        )
        of_task = resource.TaskResourceRequests().cpus(1)
        profile = resource.ResourceProfileBuilder().require(of_executor).require(of_task).build()
        builder = jvm.org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBuilder()
        made = builder.buildFromFeatures(executor_conf, security, None, profile).pod()
        return made.pod(), made.container()

    return make


@pytest.fixture
def driver(jvm, spark):
    """Make what Spark submits for a driver: its pod, its container and other resources."""

    def make(given):
        submit = jvm.org.apache.spark.deploy.k8s.submit
        arguments = spark.sparkContext._gateway.new_array(jvm.java.lang.String, 0)
        conf = jvm.org.apache.spark.deploy.k8s.KubernetesConf.createDriverConf(
            conf_of(jvm, given),
            "spark-1",
            submit.PythonMainAppResource("local:///train.py"),
            "org.apache.spark.deploy.PythonRunner",
            arguments,
            jvm.scala.Option.empty(),
        )
        return submit.KubernetesDriverBuilder().buildFromFeatures(conf, None)

    return make


@pytest.fixture
def policy(jvm):
    text = (FILES / "network-policy.yaml").read_text()
    read = jvm.io.fabric8.kubernetes.client.utils.Serialization.unmarshal(text)
    assert read.getClass().getSimpleName() == "NetworkPolicy"
    return read


def test_the_executors_have_the_memory_and_the_volume_of_the_page(executor):
    pod, container = executor(settings())
    (volume,) = (each for each in pod.getSpec().getVolumes() if each.getName() == "shm")
    assert volume.getEmptyDir().getMedium() == "Memory"
    assert volume.getEmptyDir().getSizeLimit().toString() == "2Gi"
    (mount,) = (each for each in container.getVolumeMounts() if each.getName() == "shm")
    assert mount.getMountPath() == "/dev/shm"
    limits = container.getResources().getLimits()
    assert limits["memory"].toString() == "13312Mi", "with the overhead"


def test_a_small_cluster_has_room_for_the_heap_the_volume_and_python(executor):
    smaller = kubernetes_page.smaller_settings()
    pod, container = executor({**settings(), **smaller})
    (volume,) = (each for each in pod.getSpec().getVolumes() if each.getName() == "shm")

    def mebibytes(quantity):
        return int(quantity.getNumericalAmount()) >> 20

    limit = mebibytes(container.getResources().getLimits()["memory"])
    heap = limit - 1024
    assert smaller["spark.executor.memory"] == f"{heap >> 10}g"
    # An executor of the digits has 90 MiB besides its heap, and each of its ranks in Python 75.
    assert limit - heap - mebibytes(volume.getEmptyDir().getSizeLimit()) >= 512


def test_the_executors_have_the_secret_of_the_application(executor):
    _, container = executor(settings())
    assert [each for each in container.getEnv() if each.getName() == "_SPARK_AUTH_SECRET"]


def test_the_policy_selects_the_executors_and_opens_their_ports(executor, policy):
    given = settings()
    labels = dict(executor(given)[0].getMetadata().getLabels())
    assert policy.getMetadata().getNamespace() == given["spark.kubernetes.namespace"]
    spec = policy.getSpec()
    selected = dict(spec.getPodSelector().getMatchLabels())
    assert selected["spark-role"] == "executor"
    assert selected.items() <= labels.items()
    assert list(spec.getPolicyTypes()) == ["Ingress"]
    (rule,) = spec.getIngress()
    (peer,) = rule.getFrom()
    # Of the driver, too, which has another role.
    allowed = dict(peer.getPodSelector().getMatchLabels())
    assert allowed == {"spark-app-name": labels["spark-app-name"]}
    assert sorted(port.getPort().getIntVal() for port in rule.getPorts()) == sorted(
        int(given[name]) for name in ("spark.blockManager.port", "spark.collectives.port")
    )


def test_spark_4_2_makes_such_a_policy_itself(driver, spark):
    if tuple(map(int, spark.version.split(".")[:2])) < (4, 2):
        pytest.skip("from Spark 4.2 on")
    made = driver(settings())
    resources = made.driverKubernetesResources().iterator()
    found = []
    while resources.hasNext():
        found.append(resources.next())
    (own,) = (each for each in found if each.getKind() == "NetworkPolicy")
    selected = dict(own.getSpec().getPodSelector().getMatchLabels())
    assert selected == {"spark-role": "executor", "spark-app-selector": "spark-1"}
    (rule,) = own.getSpec().getIngress()
    (peer,) = rule.getFrom()
    assert dict(peer.getPodSelector().getMatchLabels()) == {"spark-app-selector": "spark-1"}
    assert list(rule.getPorts()) == []


def test_prometheus_finds_the_port_of_the_driver(driver):
    pattern = r"^ {4}(spark\.kubernetes\.driver\.annotation\.prometheus\S+) +(\S+)$"
    given = dict(re.findall(pattern, (ROOT / PAGE).read_text(), re.MULTILINE))
    assert len(given) == 3
    pod = driver({**settings(), **given}).pod()
    annotations = dict(pod.pod().getMetadata().getAnnotations())
    assert annotations["prometheus.io/scrape"] == "true"
    assert dict(pod.pod().getMetadata().getLabels())["spark-role"] == "driver"
    ports = {each.getName(): each.getContainerPort() for each in pod.container().getPorts()}
    assert str(ports["spark-ui"]) == annotations["prometheus.io/port"]


def test_istio_is_told_to_leave_the_ports_out(executor):
    given = settings()
    pattern = r"^ {4}(spark\.kubernetes\.executor\.annotation\.\S+) +(\S+)$"
    annotations = dict(re.findall(pattern, (ROOT / PAGE).read_text(), re.MULTILINE))
    assert len(annotations) == 2
    made = dict(executor({**given, **annotations})[0].getMetadata().getAnnotations())
    ports = {given["spark.blockManager.port"], given["spark.collectives.port"]}
    for direction in ("Inbound", "Outbound"):
        excluded = made[f"traffic.sidecar.istio.io/exclude{direction}Ports"]
        assert set(excluded.split(",")) >= ports


def test_the_application_of_the_operator_is_that_of_the_command(jvm):
    serialization = jvm.io.fabric8.kubernetes.client.utils.Serialization
    text = (FILES / "spark-application.yaml").read_text()
    application = json.loads(serialization.asJson(serialization.unmarshal(text)))
    given = settings()
    spec = application["spec"]
    executor, driver = spec["executor"], spec["driver"]
    said = {
        **spec["sparkConf"],
        "spark.master": given["spark.master"],
        "spark.app.id": given["spark.app.id"],
        "spark.app.name": application["metadata"]["name"],
        "spark.kubernetes.namespace": application["metadata"]["namespace"],
        "spark.kubernetes.container.image": spec["image"],
        "spark.kubernetes.authenticate.driver.serviceAccountName": driver["serviceAccount"],
        "spark.executor.instances": str(executor["instances"]),
        "spark.executor.cores": str(executor["cores"]),
        "spark.executor.memory": executor["memory"],
        "spark.executor.memoryOverhead": executor["memoryOverhead"],
    }
    assert said == given
    assert spec["mainApplicationFile"] == kubernetes_page.command()[-1]
    assert spec["sparkVersion"] == version_of_spark()


def test_the_account_of_the_command_has_a_role():
    text = (FILES / "service-account.yaml").read_text()
    given = settings()
    account = given["spark.kubernetes.authenticate.driver.serviceAccountName"]
    namespaces = re.findall(r"namespace: (\S+)", text)
    assert set(namespaces) == {given["spark.kubernetes.namespace"]}
    accounts = re.findall(r"kind: ServiceAccount\n *(?:metadata:\n *)?name: (\S+)", text)
    assert accounts == [account, account], "the account, and for whom the role is"


def version_of_spark():
    return re.search("<spark.version>(.*)</spark.version>", (ROOT / "pom.xml").read_text())[1]


def test_the_image_has_the_spark_of_the_project_and_the_jars_of_the_package(tmp_path):
    text = (FILES / "Dockerfile").read_text()
    assert f"FROM apache/spark:{version_of_spark()}-" in text
    (copy,) = re.findall(r"^ *(cp .*)$", text, re.MULTILINE)
    command = copy.replace("/opt/spark/jars/", f"{tmp_path}/").replace("python3", sys.executable)
    subprocess.run(["sh", "-c", command], check=True)
    import spark_collectives

    assert {path.name for path in tmp_path.glob("*.jar")} == {
        path.name for path in Path(spark_collectives.jar_path()).parent.glob("*.jar")
    }
