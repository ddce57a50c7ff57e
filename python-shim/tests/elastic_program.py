"""An application with three executors that trains replicas, and kills some of them.

Its arguments are a folder, and the name of a scenario or more. It writes what each has found to a
file of that name.
"""

import contextlib
import hashlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np

os.environ["PYSPARK_PYTHON"] = sys.executable

import spark_collectives as dist
from processes import eventually
from samples import samples
from spark_collectives import elastic

#: The most seconds for what a busy machine does.
LONG = 300
REPLICAS = 3
SIZE = 1000
PAUSE = 0.01


def gradient_of(replica, step):
    """Return whole numbers, so that sums do not depend on the order."""
    return np.array([(replica * 31 + step * 17 + i) % 97 - 48 for i in range(SIZE)], np.float64)


def descend(weights, total, participants):
    weights -= 0.01 * (total / participants)


def replayed(history):
    """Compute in one thread what the committed steps give."""
    weights = np.ones(SIZE)
    for step, members in enumerate(history):
        replicas = [each for each in range(REPLICAS) if members >> each & 1]
        descend(weights, sum(gradient_of(each, step) for each in replicas), len(replicas))
    return weights


def digest(*arrays):
    total = hashlib.sha256()
    for each in arrays:
        total.update(np.ascontiguousarray(each).tobytes())
    return total.hexdigest()


def say(folder, name, **values):
    """Write a small file as a whole."""
    path = Path(folder, name)
    path.with_suffix(".part").write_text(json.dumps(values))
    path.with_suffix(".part").replace(path)


def heard(folder, name):
    path = Path(folder, name)
    return json.loads(path.read_text()) if path.exists() else None


def place(manager, folder, replica):
    from pyspark import TaskContext

    task = TaskContext.get()
    say(
        folder,
        f"place-{replica}",
        worker=os.getpid(),
        # The worker's parent is a daemon, whose parent is the executor.
        executor=int(Path(f"/proc/{os.getppid()}/stat").read_text().split()[3]),
        attempt=task.attemptNumber(),
        step=manager.current_step(),
    )
    return task.attemptNumber()


def trains(folder):
    """Return a function that trains until there is a file named ``finish``."""

    def train(manager, rows):
        (replica,) = rows
        # The history grows, so the state has another size at each step.
        state = {"weights": np.ones(SIZE) * (replica + 1), "history": [], "finished": False}
        manager.register_state_dict_fn("training", state.update, lambda: state)
        while True:
            manager.start_quorum()
            if state["finished"]:
                break
            attempt = place(manager, folder, replica)
            step = manager.current_step()
            if step == 0 and not state["history"]:
                state["weights"] = np.ones(SIZE)
            time.sleep(PAUSE)
            total = gradient_of(replica, step)
            said = np.array([1 << replica, Path(folder, "finish").exists()], np.int64)
            works = [
                manager.allreduce(total, reduce_op=dist.ReduceOp.SUM),
                manager.allreduce(said, reduce_op=dist.ReduceOp.SUM),
            ]
            assert works[0].wait() is total
            if manager.should_commit():
                descend(state["weights"], total, manager.num_participants())
                state["history"].append(int(said[0]))
                state["finished"] = said[1] > 0
        batches = manager.batches_committed()
        ended = digest(state["weights"], np.array(state["history"]))
        say(folder, f"final-{replica}", attempt=attempt, digest=ended, batches=batches)
        return state["weights"], state["history"]

    return train


class Trained(threading.Thread):
    """A run of its own thread."""

    def __init__(self, rows, train, **options):
        super().__init__(daemon=True)
        self._call = lambda: elastic.run(rows, train, **options)
        self.result = self.error = None
        self.start()

    def run(self):
        try:
            self.result = self._call()
        except BaseException as e:
            self.error = e

    def finish(self):
        self.join(LONG)
        if self.error is not None:
            raise self.error
        return self.result


def await_steps(run, folder, replica, attempt, more=5):
    """Wait until an attempt of a replica has made more steps, and return where it is."""

    def there(step):
        if run.error is not None:
            raise run.error
        found = heard(folder, f"place-{replica}")
        return found if found and found["attempt"] >= attempt and found["step"] >= step else None

    begun = eventually(lambda: f"replica {replica} trains: {there(0)}", LONG, lambda: there(0))
    step = begun["step"] + more
    return eventually(lambda: f"replica {replica} goes on from {step}", LONG, lambda: there(step))


def executor_killed(spark, folder):
    """Train, kill an executor, and finish when its replica is back."""
    rows = spark.sparkContext.parallelize(range(REPLICAS), REPLICAS)
    run = Trained(rows, trains(folder), min_replicas=2, checkpoint_interval=50)
    lost = await_steps(run, folder, 1, 0)
    os.kill(lost["executor"], signal.SIGKILL)
    await_steps(run, folder, 1, 1)
    Path(folder, "finish").touch()
    weights, history = run.finish()
    finals = [heard(folder, f"final-{replica}") for replica in range(REPLICAS)]
    return {
        "attempts": [each["attempt"] for each in finals],
        "same": {each["digest"] for each in finals} == {digest(weights, np.array(history))},
        "batches": [each["batches"] for each in finals],
        "participants": sum(bin(members).count("1") for members in history),
        "replayed": bool((weights == replayed(history)).all()),
        "without": sum(members == 0b101 for members in history),
        "steps": len(history),
    }


def torch_trained(spark, folder):
    """Train with torch as torchft's example does, and kill a worker."""

    def train(manager, rows):
        import torch

        (replica,) = rows
        torch.manual_seed(replica)
        inner = torch.nn.Sequential(torch.nn.Linear(4, 300), torch.nn.Linear(300, 1))
        model = elastic.DistributedDataParallel(manager, inner)
        optimizer = elastic.Optimizer(manager, torch.optim.AdamW(model.parameters()))

        def load_state_dict(state):
            model.load_state_dict(state["model"])
            optimizer.load_state_dict(state["optim"])

        manager.set_state_dict_fns(
            load_state_dict,
            lambda: {"model": model.state_dict(), "optim": optimizer.state_dict()},
        )
        ended = False
        while not ended:
            optimizer.zero_grad()
            place(manager, folder, replica)
            inputs = torch.randn(16, 4)
            loss = (model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
            loss.backward()
            said = np.array([Path(folder, "finish").exists()], np.int64)
            manager.allreduce(said, reduce_op=dist.ReduceOp.SUM)
            before = manager.current_step()
            optimizer.step()
            ended = manager.current_step() > before and said[0] > 0
            time.sleep(PAUSE)
        state = [each.numpy() for each in model.state_dict().values()]
        kept = optimizer.state_dict()["state"]
        state += [value.numpy() for each in kept.values() for value in each.values()]
        say(folder, f"final-{replica}", digest=digest(*state), step=manager.current_step())
        return loss.item()

    rows = spark.sparkContext.parallelize(range(REPLICAS), REPLICAS)
    run = Trained(rows, train, min_replicas=2)
    lost = await_steps(run, folder, 2, 0)
    os.kill(lost["worker"], signal.SIGKILL)
    await_steps(run, folder, 2, 1)
    Path(folder, "finish").touch()
    loss = run.finish()
    finals = [heard(folder, f"final-{replica}") for replica in range(REPLICAS)]
    return {
        "states": len({each["digest"] for each in finals}),
        "steps": len({each["step"] for each in finals}),
        "loss": loss,
    }


def torch_parts(spark, folder):
    """Train a module of which replica 1 does not use a part."""

    def train(manager, replicas):
        import torch

        (replica,) = replicas
        torch.manual_seed(7)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.used = torch.nn.Linear(2, 1)
                self.part = torch.nn.Linear(2, 1)

            def forward(self, inputs):
                return self.used(inputs) + (self.part(inputs) if replica == 0 else 0)

        inner = Model()
        begun = inner.part.weight.tolist()
        model = elastic.DistributedDataParallel(manager, inner)
        optimizer = elastic.Optimizer(manager, torch.optim.SGD(model.parameters(), 0.1))
        manager.set_state_dict_fns(model.load_state_dict, model.state_dict)
        left_out = False
        while manager.current_step() < 3:
            optimizer.zero_grad(set_to_none=manager.current_step() != 1)
            model(torch.ones(4, 2)).mean().backward()
            if manager.current_step() == 2 and not left_out:
                left_out = True  # As a scaler of gradients does.
            else:
                optimizer.step()
        say(folder, f"final-{replica}", begun=begun, ended=inner.part.weight.tolist())

    elastic.run(spark.sparkContext.parallelize(range(2), 2), train, 2)
    finals = [heard(folder, f"final-{replica}") for replica in range(2)]
    # The mean of a gradient of one and none is a half: three steps of 0.1.
    moved = np.array(finals[0]["begun"]) - np.array(finals[0]["ended"])
    return {
        "same": finals[0]["ended"] == finals[1]["ended"],
        "moved": np.round(moved, 5).tolist(),
    }


def rows_of_a_dataframe(spark, folder):
    """Train on a DataFrame whose last partition gets a slot when the others have finished."""

    def train(manager, batches):
        values = np.concatenate([batch.column("id").to_numpy() for batch in batches])
        state = {}
        manager.register_state_dict_fn("state", state.update, lambda: state)
        while manager.start_quorum() < 5:
            mean = manager.allreduce(np.array([values.mean()])).value()
            if manager.should_commit():
                state["means"] = [*state.get("means", []), float(mean[0])]
        return manager.num_participants(), state["means"]

    participants, means = elastic.run(spark.range(0, 40, 1, 4), train, 3)
    return {"participants": participants, "means": means}


def errors(spark, folder):
    rows = spark.sparkContext.parallelize(range(2), 2)

    class OwnError(Exception):
        pass

    def fails(manager, replicas):
        manager.register_state_dict_fn("none", lambda state: None, lambda: None)
        (replica,) = replicas
        manager.start_quorum()
        if replica == 1:
            raise OwnError(f"in step {manager.current_step()}")
        manager.allreduce(np.ones(3)).wait()
        manager.should_commit()
        manager.start_quorum()

    said = {}
    try:
        elastic.run(rows, fails, 2)
    except Exception as e:
        said["thrown"] = [type(e).__name__, str(e), str(e.__cause__)]

    def repeats(manager, replicas):
        (replica,) = replicas
        state = {"steps": []}
        manager.register_state_dict_fn("state", state.update, lambda: state)
        tries = []
        while manager.start_quorum() < 2:
            if replica == 1 and not tries:
                manager.report_error(ValueError("spoilt"))
            value = manager.allreduce(np.full(3, manager.current_step() + 1.0))
            tries.append((manager.current_step(), manager.should_commit()))
            assert value.is_completed()
        return tries

    said["repeated"] = elastic.run(rows, repeats, 2)

    def misuses(manager, _replicas):
        found = []

        def refused(call, *arguments):
            with contextlib.suppress(StopIteration):
                try:
                    call(*arguments)
                except (RuntimeError, ValueError) as e:
                    found.append(f"{type(e).__name__}: {e}")

        refused(manager.start_quorum)
        refused(manager.allreduce, np.ones(1))
        refused(manager.should_commit)
        assert (manager.num_participants(), manager.participating_rank()) == (0, None)
        manager.register_state_dict_fn("state", lambda state: None, lambda: None)
        refused(manager.register_state_dict_fn, "state", print, print)
        manager.start_quorum()
        assert manager.is_participating() and manager.errored() is None
        refused(manager.start_quorum)
        refused(manager.set_state_dict_fns, print, print)
        refused(manager.allreduce, np.ones(1), True)
        refused(manager.allreduce, np.ones(1, np.int64))
        refused(dist.init_process_group)
        assert manager.should_commit()
        return found

    def starved(manager, replicas):
        (replica,) = replicas
        state = {"of": replica}
        manager.register_state_dict_fn("state", state.update, lambda: state)
        given, asked = manager._staged, []

        def none_at_first(outputs, inputs):
            asked.append(1)
            return None if replica == 1 and len(asked) == 1 else given(outputs, inputs)

        manager._staged = none_at_first
        manager.start_quorum()
        assert manager.should_commit() and state == {"of": 0}
        return len(asked)

    def cannot_begin(manager, replicas):
        """Fail before the first reduction of replica 1 has begun."""
        from spark_collectives.elastic import manager as module

        (replica,) = replicas
        manager.register_state_dict_fn("state", lambda state: None, lambda: None)
        whole = module._Participants.all_reduce

        def refuses(*_arguments, **_options):
            module._Participants.all_reduce = whole
            raise dist.CollectiveError("no memory")

        if replica == 1:
            module._Participants.all_reduce = refuses
        tries = []
        while manager.start_quorum() < 1:
            manager.allreduce(np.ones(3)).wait()
            tries.append(manager.should_commit())
        return tries

    said["starved"] = elastic.run(rows, starved, 2)
    said["cannot begin"] = elastic.run(rows, cannot_begin, 2)
    said["misused"] = elastic.run(rows.coalesce(1), misuses)

    def differs(manager, replicas):
        (replica,) = replicas
        manager.register_state_dict_fn(f"state-{replica}", lambda state: None, lambda: None)
        manager.start_quorum()

    try:
        elastic.run(rows, differs, 2)
    except RuntimeError as e:
        said["differ"] = str(e)
    try:
        elastic.run(rows, differs, 3)
    except ValueError as e:
        said["too few"] = str(e)
    return said


def cancelled(spark, folder):
    """Cancel a run whose replicas wait for one that no slot is free for."""
    context = spark.sparkContext

    def waits(manager, replicas):
        (replica,) = replicas
        manager.register_state_dict_fn("state", lambda state: None, lambda: None)
        place(manager, folder, replica)
        manager.start_quorum()

    def run():
        context.setJobGroup("waits", "waits", True)
        return elastic.run(context.parallelize(range(4), 4), waits, 4)

    from pyspark import InheritableThread

    ended = []

    def target():
        try:
            run()
        except Exception as e:
            ended.append(type(e).__name__)

    thread = InheritableThread(target=target, daemon=True)
    thread.start()
    places = [f"place-{replica}" for replica in range(3)]
    eventually(lambda: "three begin", LONG, lambda: all(heard(folder, each) for each in places))
    context.cancelJobGroup("waits")
    thread.join(LONG)
    # All slots are free again.
    freed = context.parallelize(range(3), 3).barrier().mapPartitions(lambda rows: rows).count()
    return {"ended": ended, "freed": freed}


def page(spark, folder):
    """Run the samples of the page."""
    names = {"__name__": "__main__", "spark": spark}
    found = samples("docs/guide/elastic.md", "python")
    for each in found:
        if each.kind == "elastic" or (each.kind == "elastic-torch" and has_torch()):
            exec(each.before, names)
            exec(compile("\n" * (each.line - 1) + each.code, each.page, "exec"), names)
    return {"kinds": [each.kind for each in found]}


def has_torch():
    import importlib.util

    return importlib.util.find_spec("torch") is not None


def main():
    from pyspark.sql import SparkSession

    folder, scenarios = Path(sys.argv[1]), sys.argv[2:]
    spark = dist.configure(
        SparkSession.builder.master("local-cluster[3,1,1024]")
        .appName("elastic")
        .config("spark.ui.enabled", "false")
        .config("spark.task.maxFailures", "1000")
        .config("spark.deploy.maxExecutorRetries", "-1")
        .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    ).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        for name in scenarios:
            own = folder / f"{name}.files"
            own.mkdir()
            say(folder, name, **globals()[name](spark, str(own)))
    finally:
        # Otherwise the worker starts executors for ever while the JVM ends.
        spark.stop()


if __name__ == "__main__":
    main()
