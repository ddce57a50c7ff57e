"""What a replica's function trains with."""

from __future__ import annotations

import contextlib
import logging
import struct
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import _codes, _connection, _frames, _staging, _task
from .._frames import Request
from .._group_operations import GroupOperations
from .._operations import Operations
from .._staging import Operand, Staged
from .._task import Task
from ..errors import BridgeError, CollectiveError, CollectiveMismatchError, GroupClosedError
from ..futures import Future
from ..reduce_op import ReduceOp
from ..work import Seconds, Work
from . import _packing

_log = logging.getLogger(__name__)

#: What the JVM wants next while a step begins.
_COMPUTE, _SAVE, _MAKE_ROOM, _LOAD = range(4)

#: A quorum waits for replicas that Spark has not started yet; the end of the task ends the wait.
_NO_LIMIT = float("inf")


class _Participants(GroupOperations):
    """The group of one quorum."""

    def __init__(self, operations: Operations, rank: int) -> None:
        self._operations = operations
        self.rank = rank


class AllReduceWork:
    """An all-reduce of a :class:`Manager`, which may go on.

    Its value is the tensor, also when a replica was lost: the contents are then undefined, and
    :meth:`Manager.should_commit` returns False. Thread-safe.
    """

    def __init__(self, manager: Manager, tensor: Any, work: Optional[Work], host: Any) -> None:
        self._manager = manager
        self._tensor = tensor
        self._work = work
        #: The copy of a tensor of another device.
        self._host = host
        self._lock = threading.Lock()
        self._done = work is None

    def wait(self, timeout: Optional[Seconds] = None) -> Any:
        """Wait until it is done, and return the tensor.

        :param timeout: by default the operation's own deadline ends the wait
        :raises TimeoutError: after the timeout; the operation goes on
        """
        if not self._done:
            assert self._work is not None
            self._work._wait_quietly(timeout)
            if not self._work.is_completed():
                raise TimeoutError(f"The all-reduce is not done after {timeout}")
            self._end()
        return self._tensor

    def _end(self) -> None:
        with self._lock:
            if self._done:
                return
            assert self._work is not None
            error = self._work.exception()
            if error is not None:
                self._manager._failed(error)
            elif self._host is not None:
                self._tensor.detach().copy_(self._host)
            self._done = True

    def is_completed(self) -> bool:
        """Return whether it is done."""
        if not self._done and self._work is not None and self._work.is_completed():
            self._end()
        return self._done

    def value(self) -> Any:
        """Return the tensor, once it is done, as :meth:`wait` does."""
        return self.wait()

    def get_future(self) -> Any:
        """Return a future of the tensor: torch's of a tensor of torch, else one as works have."""
        made: Any
        if isinstance(self._tensor, np.ndarray):
            made = Future()
        else:
            import torch

            made = torch.futures.Future()
        if self._done or self._work is None:
            made.set_result(self._tensor)
        else:
            self._work.get_future().add_done_callback(lambda _done: self._complete(made))
        return made

    def _complete(self, future: Any) -> None:
        try:
            future.set_result(self.wait())
        except Exception as e:  # Such as one of the device to which the result is copied.
            future.set_exception(e)

    def then(self, callback: Callable[[Any], Any]) -> Any:
        """Return a future of what ``callback`` returns for the future of the tensor."""
        return self.get_future().then(callback)


class Manager:
    """A replica of a model, which is trained in one task together with the others.

    It has the names and the meaning of torchft's ``Manager``. :func:`run` makes it. A step begins
    with :meth:`start_quorum` and ends with :meth:`should_commit`; change the state only after that
    has returned True, and only by what :meth:`allreduce` has brought. In one thread, except that
    :meth:`allreduce` may be called in any, as DDP does; all replicas reduce in the same order.
    """

    def __init__(self, task: Task, reply: _frames.Reply) -> None:
        self._task = task
        self._group = reply.next_int()
        self._operations = Operations(task, self._group, reply.next_long())
        #: How to load and to save, by name.
        self._functions: Dict[str, Tuple[Callable[[Any], Any], Callable[[], Any]]] = {}
        self._quorum = 0
        self._step = 0
        self._rank: Optional[int] = None
        self._size = 0
        self._batches = 0
        self._in_step = False
        self._error: Optional[Exception] = None
        #: Whether a reduction of the step has failed, so that further ones would, too.
        self._lost = False
        #: What no other attempt would mend.
        self._refusal: Optional[Exception] = None
        self._works: List[AllReduceWork] = []

    @staticmethod
    def _begin(run: str, checkpoint_interval: int) -> Manager:
        task = _task.connect()
        body = _frames.pack_text(run) + struct.pack("<i", checkpoint_interval)
        return Manager(
            task,
            task.connection().call(
                Request(_codes.REPLICA, body=body), task.store_wait + _connection.MARGIN_SECONDS
            ),
        )

    # The state

    def register_state_dict_fn(
        self,
        key: str,
        load_state_dict: Callable[[Any], Any],
        state_dict: Callable[[], Any],
    ) -> None:
        """Register state that a replica which joins or is behind receives from another one.

        It is all that the next step depends on: parameters, the optimizer's state, and whatever
        else changes. At the first quorum all replicas receive that of the first one. Dense tensors
        and arrays move as they are; they arrive on the CPU. All else is pickled.

        :param key: the same on all replicas
        :param load_state_dict: takes what ``state_dict`` has returned on another replica; called
            by :meth:`start_quorum`
        :param state_dict: called by :meth:`start_quorum`, when another replica needs the state or
            a checkpoint is due
        :raises ValueError: if the key is taken
        :raises RuntimeError: after the first :meth:`start_quorum`
        """
        if self._quorum:
            raise RuntimeError(f'State "{key}" must be registered before the first start_quorum()')
        if key in self._functions:
            raise ValueError(f'State "{key}" is registered twice')
        self._functions[key] = (load_state_dict, state_dict)

    def set_state_dict_fns(
        self, load_state_dict: Callable[[Any], Any], state_dict: Callable[[], Any]
    ) -> None:
        """Register the only state, as :meth:`register_state_dict_fn` does."""
        self.register_state_dict_fn("set_state_dict_fns", load_state_dict, state_dict)

    def _saved(self) -> Any:
        states = {key: save() for key, (_, save) in self._functions.items()}
        return _packing.pack((self._batches, states))

    def _load(self, packed: Any) -> None:
        self._batches, states = _packing.unpack(packed)
        for key, (load, _) in self._functions.items():
            load(states[key])

    # A step

    def start_quorum(self) -> int:
        """Begin a step, and return its number, :meth:`current_step`.

        Returns at once while the quorum does not change. Otherwise blocks until the driver has
        decided the next one, the replicas have connected, and those that are behind have received
        the state. A quorum waits for its ``min_replicas``, for however long it takes Spark to start
        them, and for members that do not come, for the group's timeout; a wait ends when the task
        is killed.

        :raises RunOverError: if others have finished the run; let it pass
        :raises StoreError: if another task has begun in this one's place, or the state is lost and
            there is no checkpoint
        :raises RuntimeError: if the last step has not ended, no state is registered, the replicas
            have registered others, or a hundred attempts in a row have failed
        """
        if self._in_step:
            raise RuntimeError(f"Step {self._step} has begun: should_commit() ends it")
        if not self._functions:
            raise RuntimeError(
                "Register the state by register_state_dict_fn(key, load_state_dict, state_dict) "
                "before the first start_quorum()"
            )
        self._error, self._lost = None, False
        names = ", ".join(sorted(self._functions))
        reply = self._next(Request(_codes.START_QUORUM, body=_frames.pack_text(names)))
        packed: Any = None
        staged: Optional[Staged] = None
        while True:
            wanted = reply.next_byte()
            self._follow(reply.next_long())
            if wanted == _COMPUTE:
                break
            if wanted == _SAVE:
                pieces = _staging.cut(_staging.reads(self._saved())[0])
                staged = self._staged([], pieces)
            elif wanted == _MAKE_ROOM:
                sizes = [reply.next_long() for _ in range(reply.next_int())]
                packed = np.empty(sum(sizes), np.uint8)
                parts = np.split(packed, np.cumsum(sizes)[:-1])
                staged = self._staged(_staging.writes(*parts), [])
            else:
                assert staged is not None
                staged.finish()
                self._load(packed)
                packed = staged = None
                reply = self._next(Request(_codes.RESUME_QUORUM))
                continue
            if staged is None:
                reply = self._next(Request(_codes.RESUME_QUORUM, flags=_codes.CHOICE))
                continue
            reply = self._next(
                Request(_codes.RESUME_QUORUM, outputs=staged.outputs, inputs=staged.inputs)
            )
            if wanted == _SAVE:
                staged.release()
        self._step = reply.next_long()
        self._rank, self._size = reply.next_int(), reply.next_int()
        self._in_step = True
        return self._step

    def _staged(self, outputs: Sequence[Operand], inputs: Sequence[Operand]) -> Optional[Staged]:
        """Stage a state, or return None: a group that has failed gives no memory."""
        try:
            return self._operations.stage(outputs, inputs)
        except BridgeError:
            raise
        except CollectiveError as e:
            _log.info("A state cannot be moved: %s", e)
            return None

    def _next(self, request: Request, patience: float = _NO_LIMIT) -> _frames.Reply:
        try:
            return self._task.connection().call(request, patience)
        except GroupClosedError as e:
            # The JVM says so of a call that is not possible now. Not a failure of a group.
            raise RuntimeError(str(e)) from None

    def _follow(self, quorum: int) -> None:
        """Leave the memory of the members before, if they have changed."""
        if quorum != self._quorum:
            before = self._operations
            before.pending.settle()
            self._operations = Operations(self._task, self._group, before.timeout_ms)
            self._quorum = quorum
            before.close()

    def allreduce(
        self, tensor: Any, should_quantize: bool = False, reduce_op: Any = ReduceOp.AVG
    ) -> AllReduceWork:
        """Begin to reduce a tensor over the participants, in place; by default to their mean.

        Does not raise when a replica is lost, nor does the work: the tensor then has undefined
        contents, later calls of the step return works that are done, and :meth:`should_commit`
        returns False.

        :param tensor: a numpy array or a dense tensor of torch, of the same type and number of
            elements on all replicas; AVG needs floating-point numbers
        :param should_quantize: must be False
        :param reduce_op: a reduction of this package or of torch
        :raises RuntimeError: outside of a step
        :raises ValueError: if the tensor or the reduction cannot be used
        """
        if should_quantize:
            raise ValueError("should_quantize cannot be True: tensors are reduced as they are")
        self._require_step("allreduce")
        if self._lost:
            return AllReduceWork(self, tensor, None, None)
        op = reduce_op
        if not isinstance(op, ReduceOp):
            from ..torch.reductions import reduction

            op = reduction(op)
        host = None
        if not isinstance(tensor, np.ndarray) and not tensor.is_cpu:
            host = tensor.detach().cpu()
        assert self._rank is not None
        try:
            work = _Participants(self._operations, self._rank).all_reduce(
                tensor if host is None else host, op, async_op=True
            )
        except CollectiveError as e:
            self._failed(e)
            # The others have begun it, and must not wait, nor take the vote for it.
            with contextlib.suppress(CollectiveError):
                body = _frames.pack_text(f"A reduction of replica {self._rank} did not begin: {e}")
                self._operations.call(Request(_codes.ABORT_GROUP, body=body))
            return AllReduceWork(self, tensor, None, None)
        made = AllReduceWork(self, tensor, work, host)
        self._works.append(made)
        return made

    def _failed(self, error: Exception) -> None:
        """Take note of the error of an operation."""
        self._lost = True
        if isinstance(error, CollectiveError) and not isinstance(error, CollectiveMismatchError):
            if self._error is None:
                _log.info("An attempt of step %d is lost: %s", self._step, error)
            self._error = self._error or error
        else:
            self._refusal = self._refusal or error

    def report_error(self, e: Exception) -> None:
        """Give this attempt of the step up: :meth:`should_commit` returns False on all replicas.

        For an error that has spoilt a gradient. Still call :meth:`allreduce` as the others do.
        """
        self._error = self._error or e

    def errored(self) -> Optional[Exception]:
        """Return the error for which this attempt of the step fails, as far as it is known."""
        return self._error

    def should_commit(self) -> bool:
        """End the step, and return whether its results count: only then apply them.

        Waits for the step's reductions, and blocks for a small one, by which all participants know
        that all have come so far. If a replica is lost in this very moment, some may get True and
        others False; those that are behind then receive the state of the others.

        :return: False if a replica was lost meanwhile, or one has reported an error: do the step
            again
        :raises CollectiveMismatchError: if replicas reduce different tensors
        :raises RuntimeError: outside of a step, or if a hundred attempts in a row have failed
        """
        self._require_step("should_commit")
        works, self._works = self._works, []
        for each in works:
            each.wait()
        self._in_step = False
        if self._refusal is not None:
            raise self._refusal
        error = self._error
        reply = self._next(
            Request(
                _codes.SHOULD_COMMIT,
                flags=0 if error is None else _codes.CHOICE,
                body=b"" if error is None else _frames.pack_text(str(error) or repr(error)),
            ),
            self._operations.patience(self._operations.timeout_ms),
        )
        committed = reply.next_byte() != 0
        self._step = reply.next_long()
        if committed:
            self._batches += self._size
        return committed

    def _require_step(self, call: str) -> None:
        if not self._in_step:
            raise RuntimeError(f"start_quorum() must begin a step before {call}()")

    # Where the training is

    def current_step(self) -> int:
        """Return the number of steps that were committed so far, by whichever replicas."""
        return self._step

    def batches_committed(self) -> int:
        """Return the sum of the participants of all steps that were committed so far."""
        return self._batches

    def num_participants(self) -> int:
        """Return how many replicas take part in this step; 0 before the first."""
        return self._size

    def participating_rank(self) -> Optional[int]:
        """Return the rank of this replica among them, by partition; None before the first step."""
        return self._rank

    def is_participating(self) -> bool:
        """Return whether this replica takes part in a step that has begun; all in a quorum do."""
        return self._in_step
