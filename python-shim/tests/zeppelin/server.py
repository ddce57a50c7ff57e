"""A server of Apache Zeppelin from a distribution, with a state of its own, and its REST API."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from typing import NamedTuple

from processes import SECONDS, eventually

#: What ends a paragraph.
ENDED = {"FINISHED", "ERROR", "ABORT"}


class Shown(NamedTuple):
    """What a paragraph shows."""

    status: str
    #: Pairs of a type, such as "TEXT", and the data.
    output: list
    #: Of Spark's pages about the jobs that the paragraph has started.
    links: list

    def of(self, kind):
        return "".join(data for each, data in self.output if each == kind)


class Server:
    """It writes below the folder only, and ends with what it has started."""

    def __init__(self, home, folder):
        self._folder = folder
        self._log = folder / "server.log"
        # The settings of the interpreters are written there.
        shutil.copytree(home / "conf", folder / "conf")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._api = f"http://127.0.0.1:{port}/api"
        # What a server has of these in its environment wins over an interpreter's settings.
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ZEPPELIN_", "SPARK", "PYSPARK_", "PYTHON"))
        }
        own = {
            "CONF_DIR": "conf",
            "LOG_DIR": "logs",
            "PID_DIR": "run",
            "NOTEBOOK_DIR": "notebook",
            "WAR_TEMPDIR": "webapps",
            "INTERPRETER_LOCALREPO": "interpreter-repository",
            "DEP_LOCALREPO": "repository",
            "RECOVERY_DIR": "recovery",
            "SEARCH_INDEX_PATH": "index",
        }
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [str(home / "bin" / "zeppelin.sh")],
                cwd=folder,
                env={
                    **kept,
                    **{f"ZEPPELIN_{name}": str(folder / path) for name, path in own.items()},
                    "ZEPPELIN_HOME": str(home),
                    "ZEPPELIN_ADDR": "127.0.0.1",
                    "ZEPPELIN_PORT": str(port),
                    "ZEPPELIN_RUN_MODE": "local",
                    "ZEPPELIN_MEM": "-Xmx512m",
                    "USE_HADOOP": "false",
                    "SPARK_LOCAL_IP": "127.0.0.1",
                },
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            eventually(self.said, SECONDS, self._answers)
        except BaseException:
            self.close()
            raise

    def close(self):
        # Asked to end, it ends its interpreters, and they the kernels of Python.
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(60)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def said(self):
        """Return the ends of the logs of the server and of its interpreters."""
        logs = [self._log, *sorted(self._folder.glob("logs/*"))]
        return "\n".join(f"{log}\n{log.read_text(errors='replace')[-8000:]}" for log in logs)

    def interpreter_logs(self):
        logs = self._folder.glob("logs/zeppelin-interpreter-*")
        return "".join(log.read_text(errors="replace") for log in logs)

    def set_up(self, group, properties):
        """Set properties of an interpreter group, and restart it, as its page does."""
        setting = self._setting(group)
        for name, value in properties.items():
            old = setting["properties"].get(name, {"type": "string"})
            setting["properties"][name] = {**old, "name": name, "value": value}
        self._call("PUT", f"/interpreter/setting/{setting['id']}", setting)

    def add(self, note):
        """Import a note; return its ID and those of its paragraphs."""
        identity = self._call("POST", "/notebook/import", note)
        return identity, [each["id"] for each in self._note(identity)["paragraphs"]]

    def begin(self, note, paragraph):
        self._call("POST", f"/notebook/job/{note}/{paragraph}")

    def cancel(self, note, paragraph):
        self._call("DELETE", f"/notebook/job/{note}/{paragraph}")

    def await_end(self, note, paragraph):
        """Return what a paragraph shows, once it has ended."""
        eventually(self.said, SECONDS, lambda: self.paragraph(note, paragraph).status in ENDED)
        return self.paragraph(note, paragraph)

    def run(self, note, paragraph):
        self.begin(note, paragraph)
        return self.await_end(note, paragraph)

    def paragraph(self, note, identity):
        found = next(each for each in self._note(note)["paragraphs"] if each["id"] == identity)
        messages = (found.get("results") or {}).get("msg", [])
        links = (found.get("runtimeInfos") or {}).get("jobUrl", {}).get("values", [])
        return Shown(
            found["status"],
            [(each["type"], each["data"]) for each in messages],
            [each["jobUrl"] for each in links],
        )

    def _setting(self, group):
        settings = self._call("GET", "/interpreter/setting")
        # A map in old releases.
        settings = settings.values() if isinstance(settings, dict) else settings
        return next(each for each in settings if each["group"] == group)

    def _note(self, identity):
        return self._call("GET", f"/notebook/{identity}")

    def _answers(self):
        assert self._process.poll() is None, self.said()
        try:
            return self._call("GET", "/version")
        except (OSError, ValueError):
            return None

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._api + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer).get("body")
