package org.sparkcollectives.internal.transport.shm;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;

/** What a rank that waits for long concludes from what others have published. */
class ShmSlotsTest {

  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(SlotTable.bytes(2)).order(ByteOrder.nativeOrder());
  private final ShmSlots first = slots(0);
  private final ShmSlots second = slots(1);

  private record Rank(int rank, int size) implements Peers {

    @Override
    public Pair pair(int peer) {
      throw new AssertionError("no message is needed");
    }

    @Override
    public void flush() {}
  }

  private ShmSlots slots(int rank) {
    SlotTable table = new SlotTable(memory, rank, 2);
    return new ShmSlots(
        table,
        new Rank(rank, 2),
        condition -> {
          throw new AssertionError("nobody has to wait");
        },
        () -> {});
  }

  private static OperationHeader broadcast(long number, long count) {
    return new OperationHeader(OpType.BROADCAST, number, DType.UINT8, count);
  }

  @Test
  void aPeerThatIsInTheSameOperationIsOnlyAhead() {
    first.in(broadcast(7, 4)).publish(List.of());
    assertThatCode(() -> second.checkPeers(broadcast(7, 4))).doesNotThrowAnyException();
  }

  @Test
  void aPeerThatIsInALaterOperationIsOnlyAhead() {
    first.in(broadcast(8, 4)).publish(List.of());
    assertThatCode(() -> second.checkPeers(broadcast(7, 4000))).doesNotThrowAnyException();
  }

  @Test
  void aPeerThatHasComparedItsCallAlreadyIsOnlyAhead() {
    first.in(broadcast(7, 4)).publish(List.of());
    OperationHeader comparing = new OperationHeader(OpType.FINGERPRINT, 7, DType.INT64, 0);
    assertThatCode(() -> second.checkPeers(comparing)).doesNotThrowAnyException();
  }

  @Test
  void aPeerThatPublishedInsteadOfComparingIsNamed() {
    first.in(broadcast(6, 4)).publish(List.of());
    OperationHeader comparing = new OperationHeader(OpType.FINGERPRINT, 7, DType.INT64, 0);
    assertThatThrownBy(() -> second.checkPeers(comparing))
        .isInstanceOf(CollectiveMismatchException.class)
        .hasMessageContaining("rank 0 is in broadcast #6");
  }

  @Test
  void aPeerWhoseOperationIsAnotherIsNamed() {
    first.in(broadcast(7, 4)).publish(List.of());
    assertThatThrownBy(() -> second.checkPeers(broadcast(7, 4000)))
        .isInstanceOf(CollectiveMismatchException.class)
        .hasMessageContaining("rank 0 is in broadcast #7")
        .hasMessageContaining("but rank 1 is in broadcast #7");
  }
}
