package org.sparkcollectives.spark.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.recorder.RankDump;

/** Tests the form in which dumps travel. */
class PackedDumpTest {

  private static final GroupStatus GROUP =
      new GroupStatus("world", "", List.of(0, 1, 2), -1, -1, -1);
  private static final FlightDump DUMP =
      new RankDump(new RankLocation(2, "host", "1", 2), "a test", 1, List.of(GROUP), List.of());

  @Test
  void aDumpArrivesAsItWas() {
    assertThat(PackedDump.unpack(PackedDump.pack(DUMP))).isEqualTo(DUMP);
  }

  @Test
  void halfADumpIsRefused() {
    byte[] packed = PackedDump.pack(DUMP);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PackedDump.unpack(Arrays.copyOf(packed, packed.length / 2)));
  }

  @Test
  void aDumpThatWouldFillTheMemoryIsRefused() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] spaces = new byte[1 << 20];
    Arrays.fill(spaces, (byte) ' ');
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      for (int mebibytes = 0; mebibytes < 65; mebibytes++) {
        out.write(spaces);
      }
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PackedDump.unpack(bytes.toByteArray()))
        .withMessage("a dump of more than 67108864 bytes");
  }
}
