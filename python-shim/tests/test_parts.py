import random
import struct
import weakref

import numpy as np
import pytest

from spark_collectives import _codes, _frames, _parts
from spark_collectives._operations import Operations
from spark_collectives._staging import updates
from spark_collectives.reduce_op import ReduceOp


class Jvm:
    """A JVM and the connection to it; it has memory, and refuses float32 arrays with a NaN."""

    def __init__(self):
        self.segments = {}
        self.begun = 0
        self.replies = []
        self.broken = None
        #: What a signal handler raises once a part has been posted, and at which part.
        self.signal = None
        self.signal_at = 0

    def call(self, request, patience=0):
        try:
            self.post(request)
        except BaseException:
            self.close("A call of this thread was interrupted")
            raise
        return self.take(patience)

    @property
    def is_broken(self):
        return self.broken is not None

    def post(self, request):
        assert self.broken is None
        places = [*request.outputs, *request.inputs]
        self.replies.append(self._answer(request.code, places, request.body))
        if (
            request.code == _codes.ALL_REDUCE
            and self.signal is not None
            and self.begun == self.signal_at
        ):
            raise self.signal

    def _answer(self, code, places, body):
        if code == _codes.ALLOCATE:
            self.segments[len(self.segments)] = bytearray(struct.unpack("<Q", body)[0])
            return struct.pack("<i", len(self.segments) - 1)
        if code == _codes.WRITE:
            segment, at = struct.unpack_from("<IQ", body)
            self.segments[segment][at : at + len(body) - 12] = body[12:]
            return b""
        if code == _codes.READ:
            segment, at, size = struct.unpack("<IQI", body)
            return _frames.pack_bytes(bytes(self.segments[segment][at : at + size]))
        for segment, _, at, count, _ in places:
            if np.isnan(np.frombuffer(self.segments[segment], np.float32, count, at)).any():
                return refusal("not a number")
        self.begun += code == _codes.ALL_REDUCE
        return struct.pack("<q", self.begun)

    def take(self, patience):
        reply = self.skip(patience)
        if reply.status == _codes.FAILED:
            raise reply.error()
        return reply

    def skip(self, _patience):
        reply = self.replies.pop(0)
        return reply if isinstance(reply, _frames.Reply) else _frames.Reply(_codes.DONE, reply)

    def close(self, why):
        self.broken = why


def refusal(text):
    told = b"".join(map(_frames.pack_text, ("argument", text, "")))
    return _frames.Reply(_codes.FAILED, told + struct.pack("<ii", -1, 0))


class Task:
    can_map = False

    def __init__(self, nan_check=True):
        self.nan_check = nan_check
        self.pools = weakref.WeakSet()
        self.pending = weakref.WeakSet()
        self.jvm = Jvm()

    def connection(self):
        return self.jvm


@pytest.mark.parametrize("async_op", [False, True])
def test_no_part_of_an_array_begins_if_a_later_part_has_a_nan(async_op):
    task = Task()
    operations = Operations(task, 0, 1000)
    array = np.ones(5 * _parts.PART_BYTES // 4, np.float32)
    array[-1] = np.nan
    with pytest.raises(ValueError, match="not a number"):
        _parts.all_reduce(operations, *updates(array), ReduceOp.SUM, async_op, None)
    assert task.jvm.begun == 0
    array[-1] = 1
    work = _parts.all_reduce(operations, *updates(array), ReduceOp.SUM, async_op, None)
    assert task.jvm.begun == len(_parts.cut(array.size, 4)) > 2
    if async_op:
        work.wait()
    assert (array == 1).all()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("of a signal handler")])
@pytest.mark.parametrize("how", ["whole", "stages", "asynchronous", "one part"])
def test_a_call_that_a_signal_interrupts_leaves_no_reply_to_the_next_one(how, error):
    task = Task(nan_check=how == "whole")
    operations = Operations(task, 0, 1000)
    parts = 1 if how == "one part" else 5
    array = np.ones(parts * _parts.PART_BYTES // 4, np.float32)
    task.jvm.signal, task.jvm.signal_at = error, min(parts, 2)
    with pytest.raises(type(error)):
        _parts.all_reduce(operations, *updates(array), ReduceOp.SUM, how == "asynchronous", None)
    assert task.jvm.begun == min(parts, 2)
    assert "interrupted" in task.jvm.broken
    # The JVM still uses the memory.
    assert not operations.memory._free


@pytest.mark.parametrize("how", ["whole", "stages"])
def test_an_error_between_the_parts_gives_the_memory_back(how, monkeypatch):
    task = Task(nan_check=how == "whole")
    operations = Operations(task, 0, 1000)
    array = np.ones(5 * _parts.PART_BYTES // 4, np.float32)
    part = "_post" if how == "whole" else "_copy_in"
    monkeypatch.setattr(_parts.Reduction, part, lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(MemoryError):
        _parts.all_reduce(operations, *updates(array), ReduceOp.SUM, False, None)
    assert task.jvm.broken is None
    assert sum(map(len, operations.memory._free.values())) == 1


@pytest.mark.parametrize("async_op", [False, True])
@pytest.mark.parametrize("count", [10, 100_000, 5 * _parts.PART_BYTES // 4])
def test_an_earlier_result_does_not_overwrite_a_later_one(count, async_op):
    operations = Operations(Task(nan_check=False), 0, 1000)
    array = np.ones(count, np.float32)

    def reduce(asynchronous):
        return _parts.all_reduce(operations, *updates(array), ReduceOp.SUM, asynchronous, None)

    # The group's sum is what this rank gives. The caller drops the work.
    reduce(True)
    array.fill(2)
    later = reduce(async_op)
    if async_op:
        later.wait()
    assert (array == 2).all()
    assert not operations.pending


def test_parts_cover_an_array_in_order():
    seed = random.randrange(1 << 30)
    randomly = random.Random(seed)
    for _ in range(300):
        itemsize = randomly.choice((1, 2, 4, 8, 16))
        count = randomly.randrange(2 * _parts.PART_BYTES // itemsize + 1, (1 << 28) // itemsize)
        parts = _parts.cut(count, itemsize)
        assert parts[0][0] == 0 and parts[-1][1] == count, seed
        assert all(before[1] == after[0] for before, after in zip(parts, parts[1:])), seed
        longest = max(end - begin for begin, end in parts) * itemsize
        assert longest < 1.5 * _parts.PART_BYTES, seed


def test_arrays_of_different_sizes_have_first_parts_of_different_sizes():
    # Arrays of twice the size would have parts of the same size if nothing prevented that.
    lengths = [_parts.cut(count, 4)[0][1] for count in (1 << 21, 1 << 22, 1 << 23, 1 << 24)]
    assert len(set(lengths)) == len(lengths)


def test_small_arrays_are_not_cut():
    assert not _parts.is_for(2 * _parts.PART_BYTES)
    assert _parts.is_for(2 * _parts.PART_BYTES + 1)
