package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The reductions of the fake of NCCL that multiply by a factor, which calls create and destroy. */
final class FakeReductions {

  /** The number of the first one: the smaller ones exist without a call. */
  static final int FIRST = 5;

  private final List<String> violations;
  private final AtomicInteger next = new AtomicInteger(FIRST);
  private final Map<Integer, Double> factors = new ConcurrentHashMap<>();

  FakeReductions(List<String> violations) {
    this.violations = violations;
  }

  int create(ByteBuffer slot, ByteBuffer factor, int type) {
    int op = next.getAndIncrement();
    factors.put(op, FakeElements.real(type, factor, 0));
    slot.putInt(0, op);
    return FakeNcclResult.SUCCESS;
  }

  int destroy(int op) {
    if (!factors.containsKey(op)) {
      violations.add("a reduction is destroyed that was not made");
    }
    return FakeNcclResult.SUCCESS;
  }

  /** Returns the factor of a reduction, also after it was destroyed; 1 if it has none. */
  double factor(int op) {
    return op < FIRST ? 1 : factors.get(op);
  }
}
