package org.sparkcollectives.recorder;

import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.OpType;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.recorder.GroupRecords;
import org.sparkcollectives.internal.recorder.RecordRing;
import org.sparkcollectives.spi.OperationSpec;

/** Makes records for tests. */
public final class Traces {

  public static final String WORLD = "app/stage 1.0/world";

  private static final long BEGIN = 1_700_000_000_000_000_000L;
  private static final long MILLISECOND = 1_000_000;

  private Traces() {}

  /** Records the call of an all-reduce or of a send of 4 elements. */
  public static RecordRing.Entry call(GroupRecords group, OpType type, long number) {
    Tensor tensor = Tensor.allocate(DType.FLOAT32, 4);
    OperationSpec spec =
        type == OpType.SEND
            ? OperationSpec.send(tensor, 1, 0)
            : OperationSpec.allReduce(tensor, ReduceOp.SUM);
    return group.record(spec, number, 1000, System.nanoTime());
  }

  /** Returns an all-reduce of 4 elements that began {@code number} * 10 ms after the first. */
  public static FlightRecord allReduce(long number, FlightRecord.State state, double millis) {
    return allReduce(number, 4, state, millis);
  }

  public static FlightRecord allReduce(
      long number, long count, FlightRecord.State state, double millis) {
    return record(number, OpType.ALL_REDUCE, count, "SUM", FlightRecord.NO_PEER, state, millis);
  }

  public static FlightRecord record(
      long number,
      OpType type,
      long count,
      String detail,
      int peer,
      FlightRecord.State state,
      double millis) {
    long created = BEGIN + number * 10 * MILLISECOND;
    boolean began = state != FlightRecord.State.SCHEDULED;
    boolean ended = state == FlightRecord.State.COMPLETED || state == FlightRecord.State.FAILED;
    return new FlightRecord(
        number,
        WORLD,
        type,
        number,
        "float32",
        type == OpType.RECV ? List.of() : List.of(List.of(count)),
        type == OpType.SEND ? List.of() : List.of(List.of(count)),
        type.isPointToPoint() ? 0 : count,
        detail,
        peer,
        state,
        "task",
        created,
        began ? created + 1000 : 0,
        ended ? created + 1000 + (long) (millis * MILLISECOND) : 0,
        30_000);
  }

  /** Returns the dump of a rank of a world of three, a second after the first record. */
  public static FlightDump dump(int rank, FlightRecord... records) {
    long last = -1;
    long completed = -1;
    for (FlightRecord record : records) {
      if (!record.opType().isPointToPoint()) {
        last = record.sequenceNumber();
        completed = record.state() == FlightRecord.State.COMPLETED ? last : completed;
      }
    }
    GroupStatus group =
        new GroupStatus(WORLD, "the \"world\"", List.of(0, 1, 2), last, last, completed);
    return new RankDump(
        new RankLocation(rank, "host-" + rank, "" + rank, 100 + rank),
        "a test",
        BEGIN + 1000 * MILLISECOND,
        List.of(group),
        List.of(records));
  }
}
