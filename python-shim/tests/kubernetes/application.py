"""Applications on the cluster."""

import re

from processes import eventually

#: A busy machine takes long to start the JVMs of an application.
APPLICATION_SECONDS = 600
END_SECONDS = 120


class Application:
    """An application that was submitted, whose pods have its name in front."""

    def __init__(self, cluster, name, mode, process):
        self.cluster = cluster
        self.name = name
        self._mode = mode
        self._process = process

    @property
    def driver(self):
        """The name of the driver's pod, if it has one."""
        return f"{self.name}-driver"

    def executors(self):
        """Return the nodes of the executors that have started, by the names of their pods."""
        return self.cluster.pods(f"{self.name}-exec-")

    def _submit_log(self):
        path = self.cluster.folder / f"{self.name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def output(self):
        """Return what the driver has written."""
        return self._submit_log() if self._mode == "client" else self.cluster.pod_log(self.driver)

    def said(self):
        """Return the end of all that was written."""
        parts = [self.cluster.log()[-5000:], self._submit_log()[-10_000:]]
        for pod in self.cluster.pods(f"{self.name}-"):
            parts.append(f"{pod}\n{self.cluster.pod_log(pod)[-5000:]}")
        return "\n\n".join(parts)

    def _has_ended(self):
        if self._process is not None and self._process.poll() is None:
            return False
        if self._mode == "client":
            return True
        submitted = self._process is None or self._process.returncode == 0
        assert submitted or self.driver in self.cluster.pods(), self.said()
        return self.cluster.exit_code(self.driver) is not None

    def _await(self, condition, seconds=APPLICATION_SECONDS):
        return eventually(self.said, seconds, condition)

    def await_lines(self, word, count, without=None):
        """Return the lines of executors that begin with a word, once there are so many.

        A line is a list of words. Those of one pod may be left out.
        """

        def found():
            ended = self._has_ended()
            pods = [pod for pod in self.executors() if pod != without]
            lines = [line for pod in pods for line in _lines(word, self.cluster.pod_log(pod))]
            assert len(lines) >= count or not ended, self.said()
            return lines if len(lines) >= count else None

        return self._await(found)

    def results(self):
        """Return what the ranks have returned, in their order, once the application has ended."""
        self.await_end()
        return sorted(_lines("RESULT", self.output()))

    def await_refusal(self):
        """Wait until the application cannot be submitted; return what was written about that."""
        self._await(lambda: self._process.poll() is not None)
        assert self._process.returncode != 0, self.said()
        return self._submit_log()

    def await_end(self, fails=False):
        """Wait until the application and all its pods have ended; return the driver's output."""
        self._await(self._has_ended)
        driver = self._mode != "client"
        code = self.cluster.exit_code(self.driver) if driver else self._process.returncode
        assert (code != 0) == fails, self.said()
        self._await(
            lambda: all(self.cluster.exit_code(pod) is not None for pod in self.executors()),
            END_SECONDS,
        )
        return self.output()


def _lines(word, text):
    return [line.split("\t") for line in re.findall(rf"^{word}\t(.*)$", text, re.MULTILINE)]
