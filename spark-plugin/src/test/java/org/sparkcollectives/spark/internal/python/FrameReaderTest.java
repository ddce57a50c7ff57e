package org.sparkcollectives.spark.internal.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FrameReaderTest {

  private static final int MOST = 200_000;

  private static byte[] frame(int length) {
    ByteBuffer frame = ByteBuffer.allocate(4 + length).order(ByteOrder.LITTLE_ENDIAN);
    frame.putInt(length);
    for (int i = 0; i < length; i++) {
      frame.put((byte) (i * 31 + length));
    }
    return frame.array();
  }

  /** Returns a stream that yields a few bytes at a time. */
  private static InputStream inPieces(byte[] content, Random random) {
    return new ByteArrayInputStream(content) {
      @Override
      public synchronized int read(byte[] bytes, int offset, int length) {
        return super.read(bytes, offset, Math.min(length, 1 + random.nextInt(3000)));
      }
    };
  }

  @Test
  void framesComeOutAsTheyWentInHoweverTheyArrive() throws IOException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int[] lengths = random.ints(200, 0, 5000).toArray();
    lengths[50] = MOST;
    ByteBuffer all = ByteBuffer.allocate(1_500_000);
    for (int length : lengths) {
      all.put(frame(length));
    }
    byte[] content = new byte[all.position()];
    all.flip().get(content);
    FrameReader reader = new FrameReader(inPieces(content, random), MOST);
    for (int length : lengths) {
      ByteBuffer frame = reader.next();
      byte[] found = new byte[frame.remaining()];
      frame.get(found);
      assertThat(ByteBuffer.wrap(found))
          .as("seed %d, frame of %d bytes", seed, length)
          .isEqualTo(ByteBuffer.wrap(frame(length)).position(4).slice());
    }
    assertThat(reader.next()).isNull();
  }

  @Test
  void aFrameThatIsTooLongIsRefusedBeforeMemoryIsTaken() {
    byte[] head = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(MOST + 1).array();
    assertThatThrownBy(() -> new FrameReader(new ByteArrayInputStream(head), MOST).next())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("200001 bytes is longer than the 200000");
    byte[] negative = {-1, -1, -1, -1};
    assertThatThrownBy(() -> new FrameReader(new ByteArrayInputStream(negative), MOST).next())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("4294967295 bytes");
  }

  @Test
  void aStreamThatEndsWithinAFrameIsAnError() {
    for (int length : new int[] {1, 3, 4, 9}) {
      byte[] part = java.util.Arrays.copyOf(frame(10), length);
      assertThatThrownBy(() -> new FrameReader(new ByteArrayInputStream(part), MOST).next())
          .isInstanceOf(EOFException.class);
    }
  }
}
