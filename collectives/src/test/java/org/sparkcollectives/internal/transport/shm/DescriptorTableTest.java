package org.sparkcollectives.internal.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.transport.OperationHeader;

/** Tests the descriptors that two ranks publish to each other. */
class DescriptorTableTest {

  private static final OperationHeader SUM =
      new OperationHeader(
          OpType.ALL_REDUCE,
          5,
          DType.FLOAT32,
          70_000,
          ReduceOp.Kind.SUM,
          OperationHeader.NO_ROOT,
          0);

  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(DescriptorTable.bytes(2)).order(ByteOrder.nativeOrder());
  private final DescriptorTable first = new DescriptorTable(memory, 0, 2);
  private final DescriptorTable second = new DescriptorTable(memory, 1, 2);

  private boolean areSame(OperationHeader mine, OperationHeader theirs) {
    first.publish(1, mine, List.of());
    second.publish(1, theirs, List.of());
    boolean same = first.isSame(1, mine);
    assertThat(second.isSame(1, theirs)).isEqualTo(same);
    assertThat(first.isShared(1, mine)).isEqualTo(same);
    return same;
  }

  @Test
  void operationsThatDifferInOneFieldAreToldApart() {
    assertThat(areSame(SUM, SUM)).isTrue();
    for (OperationHeader other :
        List.of(
            header(OpType.REDUCE, 5, DType.FLOAT32, 70_000, ReduceOp.Kind.SUM, -1, 0),
            header(OpType.ALL_REDUCE, 6, DType.FLOAT32, 70_000, ReduceOp.Kind.SUM, -1, 0),
            header(OpType.ALL_REDUCE, 5, DType.INT32, 70_000, ReduceOp.Kind.SUM, -1, 0),
            header(OpType.ALL_REDUCE, 5, DType.FLOAT32, 70_001, ReduceOp.Kind.SUM, -1, 0),
            header(OpType.ALL_REDUCE, 5, DType.FLOAT32, 70_000, ReduceOp.Kind.AVG, -1, 0),
            header(OpType.ALL_REDUCE, 5, DType.FLOAT32, 70_000, null, -1, 0),
            header(OpType.ALL_REDUCE, 5, DType.FLOAT32, 70_000, ReduceOp.Kind.SUM, 0, 0),
            header(OpType.ALL_REDUCE, 5, DType.FLOAT32, 70_000, ReduceOp.Kind.SUM, -1, 1))) {
      assertThat(areSame(SUM, other)).as(other.toString()).isFalse();
    }
  }

  private static OperationHeader header(
      OpType type, long number, DType dtype, long count, ReduceOp.Kind op, int root, int sizes) {
    return new OperationHeader(type, number, dtype, count, op, root, sizes);
  }

  @Test
  void operationsWhoseTextsHaveOneHashCodeAreToldApart() {
    Map<Integer, OperationHeader> byHash = new HashMap<>();
    Random counts = new Random(1);
    while (true) {
      long count = counts.nextLong() >>> 1;
      OperationHeader header =
          header(OpType.ALL_REDUCE, 5, DType.FLOAT32, count, ReduceOp.Kind.SUM, -1, 0);
      OperationHeader other = byHash.putIfAbsent(header.toString().hashCode(), header);
      if (other != null) {
        assertThat(areSame(header, other)).as("%s and %s", header, other).isFalse();
        return;
      }
    }
  }

  @Test
  void whatARankGivesUpMayHaveChangedFromThenOn() {
    assertThat(first.mayHaveChanged(3)).isFalse();
    second.giveUp(3);
    assertThat(first.mayHaveChanged(2)).isFalse();
    assertThat(first.mayHaveChanged(3)).isTrue();
    assertThat(first.mayHaveChanged(4)).isTrue();
  }
}
