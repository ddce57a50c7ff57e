"""Hadoop's mini cluster in a process of its own, and applications on it."""

import os
import subprocess
import sys
from pathlib import Path

from processes import eventually, java_home, run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
#: Where ranks of several processes of a host share memory.
SHARED_MEMORY = Path("/dev/shm")
START_SECONDS = 180
#: A busy machine takes long to start the JVMs of an application.
APPLICATION_SECONDS = 600
END_SECONDS = 120

SETTINGS = {
    "spark.executor.instances": "2",
    "spark.executor.cores": "2",
    "spark.executor.memory": "512m",
    "spark.executor.memoryOverhead": "256m",
    "spark.driver.memory": "512m",
    "spark.yarn.am.memory": "512m",
    "spark.ui.enabled": "false",
    "spark.plugins": "org.sparkcollectives.spark.CollectivesPlugin",
    "spark.collectives.preflight.timeout": "5m",
}


def plugin_jar():
    import spark_collectives

    return Path(spark_collectives.jar_path())


class Application:
    """An application that was submitted. The files of its ranks are in a folder."""

    def __init__(self, cluster, folder, command, environment):
        self.cluster = cluster
        self.folder = folder
        self._log = folder / "submit.log"
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )

    def said(self):
        """Return what the application has written, and with it the end of its containers' logs."""
        logs = sorted(self.cluster.folder.rglob("container_*/std*"))
        parts = [f"{path}\n{path.read_text(errors='replace')[-3000:]}" for path in logs]
        return self._log.read_text(errors="replace")[-20_000:] + "\n".join(["", *parts])

    def read(self, name):
        """Return what ranks or the driver have written into a file, once they have."""
        path = self.folder / name

        def written_or_ended():
            return path.exists() or self._process.poll() is not None

        eventually(self.said, APPLICATION_SECONDS, written_or_ended)
        assert path.exists(), self.said()
        return path.read_text()

    def rows(self):
        return [line.split("\t") for line in self.read("results").splitlines()]

    def await_end(self, fails=False):
        """Wait until the application and all its processes have ended; return what it wrote."""
        try:
            code = self._process.wait(APPLICATION_SECONDS)
        finally:
            self._process.kill()
        assert (code != 0) == fails, self.said()
        # The cluster ends containers after the client has.
        eventually(
            lambda: f"processes are left: {self.cluster.containers()}",
            END_SECONDS,
            lambda: not self.cluster.containers(),
        )
        assert self.cluster.shared_files() <= self.cluster.shared_before
        return self._log.read_text(errors="replace")


class Cluster:
    """A ResourceManager and two NodeManagers in one JVM; containers are processes."""

    def __init__(self, folder, spark):
        self.folder = folder
        self._spark = spark
        self._java = java_home()
        self.shared_before = self.shared_files()
        path = folder / "classpath"
        run(
            ROOT / "mvnw",
            "-q",
            "-f",
            HERE / "pom.xml",
            "dependency:build-classpath",
            f"-Dmdep.outputFile={path}",
            cwd=ROOT,
        )
        self._log = folder / "cluster.log"
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [
                    f"{self._java}/bin/java",
                    "-Xmx768m",
                    # Hadoop's dependency injection makes classes.
                    "--add-opens=java.base/java.lang=ALL-UNNAMED",
                    "-cp",
                    path.read_text().strip(),
                    str(HERE / "MiniCluster.java"),
                    str(folder),
                ],
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

        def ready():
            assert self._process.poll() is None, self._log.read_text()[-10_000:]
            return (folder / "yarn-site.xml").exists()

        eventually(lambda: self._log.read_text()[-10_000:], START_SECONDS, ready)

    def submit(self, folder, *program, mode="client", **settings):
        """Submit a program, with its options and arguments; settings have _ for a dot."""
        given = {
            **SETTINGS,
            "spark.jars": str(plugin_jar()),
            "spark.yarn.jars": f"local:{self._spark}/jars/*",
            "spark.yarn.stagingDir": (self.folder / "staging").as_uri(),
            "spark.executorEnv.JAVA_HOME": self._java,
            "spark.yarn.appMasterEnv.JAVA_HOME": self._java,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        command = [f"{self._spark}/bin/spark-submit", "--master", "yarn", "--deploy-mode", mode]
        for name, value in given.items():
            command += ["--conf", f"{name}={value}"]
        environment = {
            **os.environ,
            "SPARK_HOME": str(self._spark),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "HADOOP_CONF_DIR": str(self.folder),
            "JAVA_HOME": self._java,
            "PYSPARK_PYTHON": sys.executable,
        }
        words = command + [str(word) for word in program]
        return Application(self, folder, words, environment)

    def containers(self):
        """Return the command lines of the processes in containers of this cluster."""
        found = {}
        # Each container has the folders of its NodeManager in its environment.
        mark = f"{self.folder}/target/".encode()
        for process in Path("/proc").iterdir():
            if process.name.isdigit() and int(process.name) != self._process.pid:
                try:
                    if mark in (process / "environ").read_bytes():
                        command = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                        found[process.name] = command.decode(errors="replace")[:200]
                except OSError:
                    continue  # it has ended
        return found

    @staticmethod
    def shared_files():
        return {path.name for path in SHARED_MEMORY.glob("spark-collectives-*")}

    def close(self):
        """End the cluster, and check that it leaves nothing behind."""
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        finally:
            self._process.kill()
        assert self.containers() == {}
        assert self.shared_files() <= self.shared_before
