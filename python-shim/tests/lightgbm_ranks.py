"""Ranks of LightGBM without Spark, and the data that they train on."""

import copy
import pickle
import socket
import subprocess
import sys
import threading

import numpy as np

#: For models that are the same byte for byte, whatever moves the bytes.
PARAMS = {
    "num_leaves": 15,
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 1,
    "verbosity": -1,
    "seed": 7,
}


def digits():
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return x, y, {"objective": "multiclass", "num_class": 10, "min_data_in_leaf": 5}


def generated(rows=2000, columns=20):
    random = np.random.default_rng(5)
    x = random.normal(size=(rows, columns))
    margin = x[:, :5] @ random.normal(size=5) + x[:, 5] * x[:, 6]
    return x, (margin + random.normal(size=rows) > 0).astype(float), {"objective": "binary"}


def regression():
    from sklearn.datasets import load_diabetes

    x, y = load_diabetes(return_X_y=True)
    return x, y, {"objective": "regression", "min_data_in_leaf": 5}


def categorical():
    random = np.random.default_rng(6)
    x = np.column_stack([random.integers(0, 12, 3000), random.normal(size=(3000, 3))])
    effect = random.normal(size=12)
    y = effect[x[:, 0].astype(int)] + 0.3 * x[:, 1] + 0.1 * random.normal(size=3000)
    return x, y, {"objective": "regression", "categorical_feature": [0]}


DATA = {each.__name__: each for each in (digits, generated, regression, categorical)}


def trees(booster):
    """The text of the model without its parameters, which name the ports of sockets."""
    return booster.model_to_string().split("\nparameters:")[0]


class Meeting:
    """Where the ranks of a group of threads give each other what they have."""

    def __init__(self, size):
        self.size = size
        self._changed = threading.Condition()
        self._given = {}
        self._failed = set()

    def exchange(self, rank, number, own):
        """Return what all ranks give in their exchange of this number, as copies."""
        with self._changed:
            given = self._given.setdefault(number, {})
            given[rank] = copy.deepcopy(own)
            self._changed.notify_all()
            while len(given) < self.size:
                if self._failed - given.keys():
                    raise ConnectionError(f"rank {min(self._failed)} has failed")
                assert self._changed.wait(60), f"exchange {number}: {sorted(given)} have come"
            return copy.deepcopy([given[each] for each in range(self.size)])

    def fail(self, rank):
        with self._changed:
            self._failed.add(rank)
            self._changed.notify_all()


class ThreadGroup:
    """A group whose ranks are threads of this process, with the calls that LightGBM takes."""

    def __init__(self, rank, meeting):
        self.rank, self.size, self._meeting = rank, meeting.size, meeting
        self.calls = 0

    def exchange(self, own):
        self.calls += 1
        return self._meeting.exchange(self.rank, self.calls, own)

    def zeros(self, shape, dtype):
        return np.zeros(shape, dtype)

    def all_to_all(self, outputs, inputs):
        for output, given in zip(outputs, self.exchange(inputs)):
            output[...] = given[self.rank]

    def all_gather(self, outputs, own):
        for output, given in zip(outputs, self.exchange(own)):
            output[...] = given

    def all_gather_into(self, output, own):
        output[...] = np.concatenate(self.exchange(own))

    def all_reduce(self, array):
        array[...] = np.sum(self.exchange(array), axis=0)

    def barrier(self):
        self.exchange(None)

    def abort(self, reason):
        self._meeting.fail(self.rank)


def on_threads(size, function, group=ThreadGroup):
    """Call a function of a group on each rank; return what each returns or raises."""
    meeting = Meeting(size)
    found = [None] * size

    def run(rank):
        try:
            found[rank] = function(group(rank, meeting))
        except BaseException as e:
            found[rank] = e
            meeting.fail(rank)

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a rank hangs"
    return found


def results(found):
    """Return what the ranks have returned; raise what the first of them has raised."""
    for each in found:
        if isinstance(each, BaseException):
            raise each
    return found


def trained(size, name, rounds=5, more=None, **arguments):
    """Train on the data of this name; return the model of each rank."""
    from spark_collectives.lightgbm import train

    def fit(group):
        data, params = dataset_of(name, group.rank, group.size)
        return train({**params, **(more or {})}, data, rounds, group=group, **arguments)

    return results(on_threads(size, fit))


class FailingGroup(ThreadGroup):
    """A group in which rank 1 fails in its exchange of the given number."""

    failing = -1

    def exchange(self, own):
        if self.rank == 1 and self.calls + 1 == self.failing:
            raise OSError(f"exchange {self.failing} failed")
        return super().exchange(own)


def part(x, rank, size):
    """The rows of a rank, in memory of their own."""
    return x[rank::size].copy()


def dataset_of(name, rank, size):
    """A rank's rows of the data of this name, and the parameters to train with."""
    import lightgbm

    x, y, own = DATA[name]()
    params = {**PARAMS, **own}
    columns = params.pop("categorical_feature", "auto")
    data = lightgbm.Dataset(part(x, rank, size), part(y, rank, size), categorical_feature=columns)
    return data, params


def over_sockets(size, cases):
    """Train over LightGBM's sockets, in a process for each rank; return the models by rank.

    :param cases: the name of the data, the number of rounds, and further parameters of each model
    """
    held = [socket.socket() for _ in range(size * len(cases))]
    for each in held:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    processes = [
        subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(size)
    ]
    for rank, process in enumerate(processes):
        process.stdin.write(pickle.dumps((rank, size, ports, cases)))
        process.stdin.close()
    found = []
    for process in processes:
        output = process.stdout.read().decode()
        error = process.stderr.read().decode()
        assert process.wait(60) == 0, error
        found.append(output.split(_MARK)[1:])
    return found


_MARK = "\x01"


def _socket_rank():
    import lightgbm

    rank, size, ports, cases = pickle.load(sys.stdin.buffer)
    models = []
    for i, (name, rounds, more) in enumerate(cases):
        own_ports = ports[i * size : (i + 1) * size]
        data, params = dataset_of(name, rank, size)
        params = {
            "tree_learner": "data",
            **params,
            **more,
            "num_machines": size,
            "pre_partition": True,
            "machines": ",".join(f"127.0.0.1:{port}" for port in own_ports),
            "local_listen_port": own_ports[rank],
            "time_out": 1,
        }
        booster = lightgbm.train(params, data, rounds)
        models.append(_MARK + trees(booster))
        booster.free_network()
    # Only now: a full pipe would hold up this rank, and the others with it.
    sys.stdout.write("".join(models))


if __name__ == "__main__":
    _socket_rank()
