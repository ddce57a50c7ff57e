package org.sparkcollectives.gpu.testing;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** A rank's communicator in the fake of NCCL. */
final class FakeCommunicator {

  final FakeNcclExchange exchange;
  final int rank;
  final int size;
  final AtomicInteger error = new AtomicInteger(FakeNcclResult.IN_PROGRESS);
  final AtomicInteger collectives = new AtomicInteger();
  volatile boolean gone;

  /** The thread inside a call of NCCL for it. */
  final AtomicReference<Thread> user = new AtomicReference<>();

  /** The communicators that are being created from it, or null. */
  volatile FakeNcclSplit.Request creating;

  FakeCommunicator(FakeNcclExchange exchange, int rank, int size) {
    this.exchange = exchange;
    this.rank = rank;
    this.size = size;
  }
}
