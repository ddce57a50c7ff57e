"""The layouts of small operations."""

import threading

import numpy as np

from pools import Pool
from spark_collectives import _frames, _layouts
from spark_collectives._staging import reads, updates, writes


def tensors(layout):
    """Return (segment, type, offset, count) of each tensor; all have one dimension."""
    size = _frames.TENSOR.size
    unpacked = (
        _frames.TENSOR.unpack_from(layout.tensors, at) for at in range(0, len(layout.tensors), size)
    )
    return [(segment, code, offset, count) for segment, code, _, offset, count in unpacked]


def test_what_is_read_is_copied_there_and_what_is_written_is_copied_back():
    pool = Pool()
    scratch = _layouts.Layouts(pool).take()
    read, written, updated = np.full(3, 1.0), np.zeros(2, np.uint16), np.full((2, 2), 5, np.int8)
    operands = [*writes(written), *updates(updated), *reads(read)]
    layout = scratch.layout(operands)
    layout.copy_there(operands)
    memory = scratch._segment.bytes
    assert (memory[128:152].view(np.float64) == 1).all()
    assert (memory[64:68] == 5).all()
    memory[0:4].view(np.uint16)[:] = 65_535
    memory[64:68] = 6
    memory[128:152] = 0
    layout.copy_back(operands)
    assert (written == 65_535).all()
    assert (updated == 6).all()
    assert (read == 1).all()


def test_arrays_of_the_same_form_have_the_same_layout_and_others_have_another():
    pool = Pool()
    scratch = _layouts.Layouts(pool).take()
    first = scratch.layout(updates(np.zeros(3)))
    assert scratch.layout(updates(np.ones(3))) is first
    for other in (
        updates(np.zeros(4)),
        updates(np.zeros((3, 1))),
        updates(np.zeros(3, np.int64)),
        reads(np.zeros(3)),
        updates(pool.empty((3,), np.dtype(np.float64))),
        updates(np.zeros(3), np.zeros(3)),
    ):
        assert scratch.layout(other) is not first


def test_unsigned_arrays_do_not_share_the_layout_of_the_signed_type_they_travel_as():
    scratch = _layouts.Layouts(Pool()).take()
    for dtype in (np.int32, np.uint32, np.int32):
        array = np.zeros(2, dtype)
        layout = scratch.layout(updates(array))
        layout.copy_there(updates(array))
        layout.copy_back(updates(array))


def test_arrays_of_the_group_stay_where_they_lie():
    pool = Pool()
    array = pool.empty((10,), np.dtype(np.float32))
    plain = np.zeros(10, np.float32)
    scratch = _layouts.Layouts(pool).take()
    layout = scratch.layout([*writes(array[4:]), *reads(plain)])
    own = pool.find(array)[0].id
    assert [each[0::2] for each in tensors(layout)] == [(own, 16), (scratch._segment.id, 0)]


def test_arrays_that_do_not_fit_in_a_scratch_segment_have_no_layout():
    scratch = _layouts.Layouts(Pool()).take()
    half = np.zeros(_layouts.MOST_BYTES // 2, np.uint8)
    assert scratch.layout(reads(half, half)) is not None
    assert scratch.layout(reads(half, half, np.zeros(1))) is None


def test_as_many_layouts_as_a_program_has_forms_are_kept_and_no_more():
    scratch = _layouts.Layouts(Pool()).take()
    for count in range(1000):
        assert scratch.layout(reads(np.zeros(count, np.int8))) is not None
        assert len(scratch._layouts) <= _layouts._MOST_LAYOUTS


def test_a_scratch_segment_is_used_again_and_by_one_thread_at_a_time():
    pool = Pool()
    layouts = _layouts.Layouts(pool)
    used = []
    clashes = []

    def use():
        for _ in range(2000):
            scratch = layouts.take()
            if scratch in used:
                clashes.append(scratch)
            used.append(scratch)
            used.remove(scratch)
            layouts.give_back(scratch)

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not clashes
    assert pool.made <= 3


def test_nothing_is_kept_of_a_group_that_is_closed():
    layouts = _layouts.Layouts(Pool())
    used = layouts.take()
    layouts.give_back(layouts.take())
    layouts.close()
    layouts.give_back(used)
    assert not layouts._free


def test_there_is_no_scratch_segment_where_no_memory_can_be_mapped():
    pool = Pool(can_map=False)
    assert _layouts.Layouts(pool).take() is None
    assert pool.made == 0
