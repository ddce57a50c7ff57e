package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The memory in which one rank has the tensors of one case after the other. It is filled with
 * noise, so that elements which were not written are found. Slices have margins that must stay as
 * they are.
 */
final class Arena {

  private static final int DIRECT_BYTES = 8 << 20;
  private static final int MARGIN = 3;
  private static final int NOISE = 1009;

  private final ByteBuffer direct =
      ByteBuffer.allocateDirect(DIRECT_BYTES).order(ByteOrder.nativeOrder());
  private final ByteBuffer staging =
      ByteBuffer.allocateDirect(DIRECT_BYTES).order(ByteOrder.nativeOrder());
  private final List<HostTensor> sliced = new ArrayList<>();
  private int used;

  /** Reuses the memory of all tensors. */
  void clear() {
    used = 0;
    sliced.clear();
  }

  /** Returns a tensor filled with noise. */
  HostTensor tensor(DType dtype, int count, Memory place) {
    int margin = place.isSlice() ? MARGIN : 0;
    HostTensor whole = whole(dtype, count + 2 * margin, place);
    for (int done = 0; done < whole.count(); done += CaseSize.largest(dtype)) {
      int n = (int) Math.min(CaseSize.largest(dtype), whole.count() - done);
      write(whole.slice(done, n), noise(dtype, n));
    }
    if (margin == 0) {
      return whole;
    }
    sliced.add(whole);
    return whole.slice(margin, count);
  }

  private HostTensor whole(DType dtype, int count, Memory place) {
    if (!place.isDirect()) {
      return place == Memory.HEAP_SLICE && dtype == DType.BOOL
          ? HostTensor.wrap(dtype, new byte[count])
          : HostTensor.allocate(dtype, count);
    }
    int start = (used + 63) / 64 * 64 + (place == Memory.DIRECT_SLICE ? 1 : 0);
    used = start + count * dtype.bytes();
    ByteBuffer range = direct.duplicate().order(ByteOrder.nativeOrder());
    return HostTensor.wrap(dtype, range.limit(used).position(start));
  }

  private static ByteBuffer noise(DType dtype, int count) {
    return Contributions.of(dtype, NOISE, 0, count);
  }

  /** Stores elements in a tensor. */
  void write(HostTensor tensor, ByteBuffer elements) {
    staging.clear().put(elements.duplicate()).flip();
    tensor.write(0, (int) tensor.count(), staging);
  }

  /** Returns the elements of a tensor, valid until the next call. */
  ByteBuffer read(HostTensor tensor) {
    staging.clear();
    tensor.read(0, (int) tensor.count(), staging);
    return staging.flip();
  }

  /** Asserts that nothing was written around the slices. */
  void assertMarginsUntouched() {
    for (HostTensor whole : sliced) {
      DType dtype = whole.dtype();
      int inner = (int) whole.count() - 2 * MARGIN;
      assertMargin(whole.slice(0, MARGIN), noise(dtype, MARGIN));
      int last = (MARGIN + inner) % CaseSize.largest(dtype);
      for (int i = 0; i < MARGIN; i++) {
        int at = (last + i) % CaseSize.largest(dtype);
        ByteBuffer expected = noise(dtype, at + 1).position(at * dtype.bytes());
        assertMargin(whole.slice(MARGIN + inner + i, 1), expected.slice());
      }
    }
  }

  private void assertMargin(HostTensor margin, ByteBuffer noise) {
    assertThat(read(margin).mismatch(noise))
        .as("something was written around a slice")
        .isEqualTo(-1);
  }
}
