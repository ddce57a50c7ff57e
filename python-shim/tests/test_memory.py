"""Memory that arrays share with the executor's JVM."""

import gc

import numpy as np

import spark_collectives as dist


def test_an_array_that_an_operation_uses_is_not_given_to_another(ranks):
    def receive(rank, size):
        group = dist.world()
        if rank == 1:
            dist.barrier()
            group.send(np.full(1000, 3.0), 0)
            return True
        work = group.irecv(group.empty(1000, np.float64), 1)
        gc.collect()
        other = group.zeros(1000, np.float64)
        dist.barrier()
        work.wait()
        return bool((other == 0).all())

    assert ranks(receive, 2) == [True, True]


def test_an_array_that_a_forgotten_work_uses_is_not_given_to_another(ranks):
    def receive(rank, size):
        group = dist.world()
        if rank == 1:
            dist.barrier()
            group.send(np.full(1000, 3.0), 0)
            group.send(np.full(1000, 4.0), 0)
            return True
        group.irecv(group.empty(1000, np.float64), 1)
        gc.collect()
        other = group.zeros(1000, np.float64)
        dist.barrier()
        # Comes behind the message that the forgotten work receives.
        group.recv(np.empty(1000), 1)
        return bool((other == 0).all())

    assert ranks(receive, 2) == [True, True]


def test_an_empty_array_finds_room_behind_one_that_fills_its_memory(ranks):
    def gather(rank, size):
        sizes = [64 * 1024, 0]
        outputs = [np.zeros(each, np.uint8) for each in sizes]
        dist.all_gather(outputs, np.full(sizes[rank], 7, np.uint8))
        return bool((outputs[0] == 7).all())

    assert ranks(gather, 2) == [True, True]
