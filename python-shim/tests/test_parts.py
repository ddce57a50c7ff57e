import random

from spark_collectives import _parts


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


def test_the_first_part_tells_arrays_of_different_sizes_apart():
    # Twice as large: without precaution its parts would be just as long.
    lengths = [_parts.cut(count, 4)[0][1] for count in (1 << 21, 1 << 22, 1 << 23, 1 << 24)]
    assert len(set(lengths)) == len(lengths)


def test_small_arrays_are_not_cut():
    assert not _parts.is_for(2 * _parts.PART_BYTES)
    assert _parts.is_for(2 * _parts.PART_BYTES + 1)
