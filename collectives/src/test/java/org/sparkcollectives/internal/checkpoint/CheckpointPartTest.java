package org.sparkcollectives.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.StoreException;

/** Tests a rank's part of a version, as keys of a store. */
class CheckpointPartTest {

  private static byte[] bytes(HostTensor tensor) {
    ByteBuffer direct =
        ByteBuffer.allocateDirect((int) tensor.byteSize()).order(ByteOrder.nativeOrder());
    tensor.read(0, (int) tensor.count(), direct);
    byte[] bytes = new byte[direct.flip().remaining()];
    direct.get(bytes);
    return bytes;
  }

  private static HostTensor random(DType dtype, int count, boolean onHeap, Random random) {
    ByteBuffer content =
        ByteBuffer.allocateDirect(count * dtype.bytes()).order(ByteOrder.nativeOrder());
    while (content.hasRemaining()) {
      content.put((byte) (dtype == DType.BOOL ? random.nextInt(2) : random.nextInt()));
    }
    HostTensor direct = HostTensor.wrap(dtype, content.flip());
    if (!onHeap) {
      return direct;
    }
    HostTensor heap = HostTensor.allocate(dtype, count);
    heap.copyFrom(direct);
    return heap;
  }

  @RepeatedTest(20)
  void tensorsOfAnyTypesComeBackFromPiecesOfAnySize(RepetitionInfo repetition) {
    long seed = repetition.getCurrentRepetition();
    Random random = new Random(seed);
    List<HostTensor> kept = new ArrayList<>();
    List<HostTensor> restored = new ArrayList<>();
    for (int i = random.nextInt(6); i > 0; i--) {
      DType dtype = DType.values()[random.nextInt(DType.values().length)];
      int count = random.nextInt(3) == 0 ? 0 : random.nextInt(5000);
      kept.add(random(dtype, count, random.nextBoolean(), random));
      restored.add(random(dtype, count, random.nextBoolean(), random));
    }
    int pieceBytes = 16 + random.nextInt(4000);
    try (HashStore store = new HashStore()) {
      CheckpointPart part = new CheckpointPart(store, pieceBytes);
      part.write(kept);
      assertThat(part.layout().difference(restored)).isEmpty();
      part.read(restored);
      for (int i = 0; i < kept.size(); i++) {
        assertThat(bytes(restored.get(i)))
            .as("seed %d, pieces of %d, tensor %d", seed, pieceBytes, i)
            .isEqualTo(bytes(kept.get(i)));
      }
      part.remove();
      assertThat(store.numKeys()).isZero();
    }
  }

  @Test
  void aPieceThatIsMissingOrOfAnotherLengthIsNamed() {
    List<HostTensor> tensors = List.of(HostTensor.of(Tensor.of(new double[10])));
    try (HashStore store = new HashStore()) {
      CheckpointPart part = new CheckpointPart(store, 32);
      part.write(tensors);
      store.set("1", new byte[31]);
      assertThatThrownBy(() -> part.read(tensors))
          .isInstanceOf(StoreException.class)
          .hasMessage("Piece 1 is of 31 bytes instead of 32");
      store.deleteKey("1");
      assertThatThrownBy(() -> part.read(tensors))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("\"1\" of the checkpoint is not in");
    }
  }

  @Test
  void aLayoutSaysHowOtherTensorsDiffer() {
    PartLayout kept =
        PartLayout.decode(
            PartLayout.of(
                    List.of(
                        HostTensor.of(Tensor.of(new float[6]).reshape(2, 3)),
                        HostTensor.of(Tensor.of(1L))))
                .encode());
    HostTensor number = HostTensor.of(Tensor.of(1L));
    assertThat(kept.difference(List.of(number)))
        .isEqualTo("it holds 2 tensors, [float32[2, 3], int64[1]], and 1 are given, [int64[1]]");
    assertThat(kept.difference(List.of(HostTensor.of(Tensor.of(new float[6])), number)))
        .isEqualTo("tensor 0 is float32[2, 3] in it, and float32[6] is given");
    HostTensor halves = HostTensor.wrap(DType.FLOAT16, new short[6]).reshape(2, 3);
    assertThat(kept.difference(List.of(halves, number)))
        .isEqualTo("tensor 0 is float32[2, 3] in it, and float16[2, 3] is given");
    PartLayout elsewhere =
        new PartLayout(
            ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
                ? ByteOrder.LITTLE_ENDIAN
                : ByteOrder.BIG_ENDIAN,
            List.of());
    assertThat(PartLayout.decode(elsewhere.encode()).difference(List.of()))
        .contains("this machine is");
  }

  @Test
  void whatIsNoLayoutIsRefused() {
    for (byte[] broken :
        new byte[][] {{}, {2}, {1, 1, 0, 0, 0, 1}, {1, 1, 0, 0, 0, 1, 0, 1, 'x'}}) {
      assertThatThrownBy(() -> PartLayout.decode(broken))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("checkpoint");
    }
  }
}
