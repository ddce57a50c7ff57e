"""A small Kubernetes in a process of its own, whose pods are namespaces of this machine."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from kubernetes.application import Application
from kubernetes.machine import HERE, NAMESPACES, ROOT, closed_folders
from processes import eventually, java_home

MINIKUBE = HERE / "minikube"
EXAMPLES = ROOT / "examples" / "kubernetes"
NAMESPACE = "jobs"
IPV4 = "10.244.0."
IPV6 = "fd00:244::"
START_SECONDS = 180
END_SECONDS = 60

#: The first requests on a busy machine take longer than Spark's 10 s.
PATIENT = {
    f"spark.kubernetes.{of}.{what}Timeout": "60000"
    for of in ("submission", "driver")
    for what in ("request", "connection")
}
SETTINGS = {
    **PATIENT,
    "spark.kubernetes.container.image": "any",
    "spark.kubernetes.namespace": NAMESPACE,
    "spark.kubernetes.allocation.batch.delay": "200ms",
    "spark.plugins": "org.sparkcollectives.spark.CollectivesPlugin",
    "spark.collectives.preflight.timeout": "5min",
    "spark.executor.instances": "2",
    "spark.executor.cores": "2",
    "spark.executor.memory": "512m",
    "spark.driver.memory": "512m",
    "spark.ui.enabled": "false",
}


def plugin_jars():
    import spark_collectives

    return Path(spark_collectives.jar_path()).parent.glob("*.jar")


class Cluster:
    """An API server, nodes with room for some pods each, and their pods."""

    def __init__(self, folder, spark_home, classes, program, rooms, prefix=IPV4):
        self.folder = folder
        self._host = f"{prefix}1"
        # The API server cannot listen on an address of IPv6.
        api = "127.0.0.1" if ":" in prefix else self._host
        self._api = f"http://{api}:6443"
        self._java = java_home()
        self._spark = folder / "image" / "opt" / "spark"
        self._numbers = itertools.count(1)
        self._commands = itertools.count(1)
        files = folder / "files"
        files.mkdir()
        for file in [*plugin_jars(), program, EXAMPLES / "train.py"]:
            shutil.copy(file, files)
        closed = closed_folders(spark_home, self._java, sys.prefix, sys.base_prefix, HERE)
        (folder / "readable").write_text("".join(f"{each}\n" for each in closed))
        command = [*NAMESPACES, MINIKUBE / "cluster.sh", folder, spark_home, classes]
        command += [prefix, rooms, files]
        self._log = folder / "cluster.log"
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [str(word) for word in command],
                cwd=folder,
                env={**os.environ, "JAVA_HOME": str(self._java)},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self.await_line("ready", START_SECONDS)

    def log(self):
        return self._log.read_text(errors="replace")

    def await_line(self, pattern, seconds):
        """Return the match of a line of the cluster's log, once it is there."""

        def found():
            # Read first: what it wrote before its end is then seen.
            ended = self._process.poll() is not None
            match = re.search(f"^{pattern}$", self.log(), re.MULTILINE)
            assert match or not ended, self.log()[-10_000:]
            return match

        return eventually(lambda: self.log()[-10_000:], seconds, found)

    def tell(self, *words):
        """Give a command, and return "" or why the cluster refused it."""
        self._process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self._process.stdin.flush()
        answer = self.await_line(rf"(done|refused) {next(self._commands)}(.*)", START_SECONDS)
        return answer[2].strip() if answer[1] == "refused" else ""

    def create(self, *resources):
        """Create resources, each a file or what is to be in one; return why one is refused."""
        for resource in resources:
            path = resource
            if not isinstance(resource, Path):
                path = self.folder / "resource.json"
                path.write_text(json.dumps(resource))
            refusal = self.tell("create", path)
            if refusal:
                return refusal
        return ""

    def delete_pod(self, name, grace=None):
        given = [] if grace is None else [grace]
        assert self.tell("delete-pod", NAMESPACE, name, *given) == ""

    def pods(self, prefix=""):
        """Return the nodes of the pods that have started, by name."""
        pattern = rf"start ({re.escape(prefix)}\S*) on (\S+) with"
        return dict(re.findall(pattern, self.log()))

    def pod_log(self, name):
        path = self.folder / "pods" / name / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def exit_code(self, name):
        """Return the exit code of a pod, or None."""
        match = re.search(rf"ended {re.escape(name)} with (\d+)$", self.log(), re.MULTILINE)
        return int(match[1]) if match else None

    def submit(self, *program, mode="client", settings=None, labels=None):
        """Submit a program, with its options and arguments.

        The modes are Spark's, and "pod": client mode, with the driver in a pod that has labels.
        """
        name = f"ranks-{next(self._numbers)}"
        given = {
            **SETTINGS,
            "spark.app.name": name,
            "spark.kubernetes.driver.master": self._api,
            "spark.kubernetes.executor.podNamePrefix": name,
            "spark.kubernetes.driver.pod.name": f"{name}-driver",
            "spark.pyspark.python": sys.executable,
            **(settings or {}),
        }
        if mode == "client":
            host = f"[{self._host}]" if ":" in self._host else self._host
            del given["spark.kubernetes.driver.pod.name"]
            given = {**given, "spark.driver.host": host, "spark.driver.bindAddress": host}
        options = ["--master", f"k8s://{self._api}"]
        options += ["--deploy-mode", "cluster" if mode == "cluster" else "client"]
        for key, value in given.items():
            options += ["--conf", f"{key}={value}"]
        words = [*options, *(str(word) for word in program)]
        if mode == "pod":
            refusal = self.create(driver_pod(f"{name}-driver", labels, words))
            assert refusal == ""
            return Application(self, name, mode, None)
        return Application(self, name, mode, self._spark_submit(name, words))

    def _spark_submit(self, name, words):
        # Where the cluster is seen: in the namespaces of its process.
        outer = self._process.pid
        inner = Path(f"/proc/{outer}/task/{outer}/children").read_text().split()[0]
        command = ["nsenter", "--target", inner, "--net", "--mount", "--pid", "--"]
        environment = {
            **os.environ,
            "SPARK_HOME": str(self._spark),
            "SPARK_LOCAL_IP": self._host,
            "JAVA_HOME": str(self._java),
            "PYSPARK_PYTHON": sys.executable,
        }
        with open(self.folder / f"{name}.log", "wb") as log:
            return subprocess.Popen(
                [*command, f"{self._spark}/bin/spark-submit", *words],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def close(self):
        """End the cluster and with it all pods."""
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        finally:
            self._process.kill()


def driver_pod(name, labels, words):
    """Return a pod that submits a program in client mode, as that of a notebook does."""
    script = 'exec /opt/spark/bin/spark-submit --conf "spark.driver.host=$POD_IP" "$@"'
    container = {
        "name": "notebook",
        "image": "any",
        "command": ["/bin/sh", "-c", script, "notebook"],
        "args": words,
        "env": [
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        ],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
