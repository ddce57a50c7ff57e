package org.sparkcollectives.spi.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.transport.MessageMismatch;
import org.sparkcollectives.internal.transport.OperationHeader;

class MismatchCodecTest {

  private static final CollectiveCall SUM =
      new CollectiveCall(
          3,
          OpType.ALL_REDUCE,
          17,
          new CollectiveCall.Tensors(
              DType.FLOAT32, 12, List.of(List.of(3L, 4L), List.of()), Device.Type.CUDA),
          ReduceOp.Kind.SUM,
          -1);
  private static final CollectiveCall BARRIER =
      new CollectiveCall(
          0,
          OpType.BARRIER,
          17,
          new CollectiveCall.Tensors(null, -1, List.of(), Device.Type.CPU),
          null,
          -1);

  @Test
  void whatWasEncodedIsRead() {
    CollectiveMismatchException read =
        MismatchCodec.decodeMismatch(
            MismatchCodec.encode(
                new CollectiveMismatchException("they différ", List.of(SUM, BARRIER))));
    assertThat(read).hasMessage("they différ");
    assertThat(read.calls()).containsExactly(SUM, BARRIER);
    assertThat(MismatchCodec.decodeCall(MismatchCodec.encode(SUM))).isEqualTo(SUM);
    assertThat(
            MismatchCodec.decodeMismatch(
                    MismatchCodec.encode(new CollectiveMismatchException("no calls")))
                .calls())
        .isEmpty();
  }

  @Test
  void whatWasCutOffIsNotTakenForACall() {
    byte[] whole = MismatchCodec.encode(SUM);
    for (int length = 0; length < whole.length; length++) {
      byte[] part = Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> MismatchCodec.decodeCall(part))
          .isInstanceOf(UncheckedIOException.class);
    }
  }

  @Test
  void aCallReadsAsItsRankWouldSayIt() {
    assertThat(SUM).hasToString("all-reduce #17 of float32 [3, 4] [] on cuda, SUM");
    assertThat(BARRIER).hasToString("barrier #17");
    assertThat(MessageMismatch.call(1, new OperationHeader(OpType.GATHER, 2, DType.INT8, 5)))
        .hasToString("gather #2 of int8 x 5");
  }
}
