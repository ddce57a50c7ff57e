package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Memory that is kept from one operation to the next. */
class ScratchTest {

  private static final long LARGE = Scratch.LARGEST_HELD_BYTES / 4 * 3;

  private final Scratch scratch = new Scratch();

  @ParameterizedTest
  @ValueSource(longs = {1, 1000, LARGE})
  void theSameMemoryIsGivenOutAgain(long count) {
    HostTensor first = scratch.piece(DType.FLOAT32, 0, count);
    HostTensor second = scratch.piece(DType.FLOAT32, 0, count);
    assertThat(second.count()).isEqualTo(count);
    assertThat(second.isSameMemoryAs(first)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 1000, LARGE})
  void piecesThatAreUsedAtTheSameTimeAreApart(long count) {
    HostTensor first = scratch.piece(DType.FLOAT32, 0, count);
    HostTensor second = scratch.piece(DType.FLOAT32, 1, count);
    assertThat(second.overlaps(first)).isFalse();
  }

  @Test
  void aLargerPieceThanBeforeIsWhole() {
    HostTensor smaller = scratch.piece(DType.FLOAT64, 0, LARGE);
    HostTensor larger = scratch.piece(DType.FLOAT64, 0, 2 * LARGE);
    assertThat(larger.count()).isEqualTo(2 * LARGE);
    assertThat(larger.overlaps(smaller)).isFalse();
  }
}
