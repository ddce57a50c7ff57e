package org.sparkcollectives.spi.failure;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.UncheckedIOException;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankLocation;

/** Tests that any bytes in the store are either a failure record, or refused. */
class FailureCodecFuzzTest {

  static Stream<byte[]> seeds() {
    byte[] record =
        FailureCodec.encode(
            new Failure(
                Failure.Kind.EXCEPTION,
                new RankLocation(3, "host", "7", 11),
                "all-reduce #7",
                7,
                "java.lang.IllegalStateException: no\n\tat Job.run(Job.java:1)"));
    byte[] unknownKind = record.clone();
    unknownKind[1] = (byte) 200;
    byte[] negativeLength =
        FailureCodec.encode(
            new Failure(Failure.Kind.KILLED, new RankLocation(0, "", "", -1), "", -1, ""));
    negativeLength[negativeLength.length - 4] = -1;
    return Stream.of(record, unknownKind, negativeLength);
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyBytesAreAFailureOrRefused(byte[] bytes) {
    Failure failure;
    try {
      failure = FailureCodec.decode(bytes);
    } catch (UncheckedIOException e) {
      return;
    }
    assertThat(FailureCodec.decode(FailureCodec.encode(failure)).toString())
        .isEqualTo(failure.toString());
  }
}
