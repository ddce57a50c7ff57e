package org.sparkcollectives.spark.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.sparkcollectives.store.StoreException;

/** Tests how a large value is read by its reference. */
class ValueReferenceTest {

  private static final ValueReference REFERENCE = new ValueReference(1L << 40, 5, 2);

  /** Writes the number of the piece into each of its bytes. */
  private static int read(byte[] target, int offset, int piece, int length) {
    for (int i = 0; i < length; i++) {
      target[offset + i] = (byte) piece;
    }
    return length;
  }

  @Test
  void aReferenceArrivesAsItWas() {
    assertThat(ValueReference.decode(REFERENCE.encode())).isEqualTo(REFERENCE);
  }

  @Test
  void otherBytesAreRefused() {
    assertThatThrownBy(() -> ValueReference.decode(new byte[15]))
        .isInstanceOf(StoreException.class)
        .hasMessage("A reference of 15 bytes");
  }

  @Test
  void thePiecesAreReadOneBehindTheOther() {
    byte[] bytes =
        REFERENCE.fetch(
            (value, piece, target, offset) -> {
              assertThat(value).isEqualTo(1L << 40);
              return read(target, offset, piece, piece == 0 ? 3 : 2);
            });
    assertThat(bytes).containsExactly(0, 0, 0, 1, 1);
  }

  @Test
  void piecesThatAreTooShortAreNoValue() {
    assertThatThrownBy(
            () -> REFERENCE.fetch((value, piece, target, offset) -> read(target, offset, piece, 2)))
        .isInstanceOf(StoreException.class)
        .hasMessage("A value of the driver's store has 4 bytes instead of 5");
  }
}
