package org.sparkcollectives.zero;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.Tensor;

/** Tests that any bytes of a file are either the state of an optimizer, or refused. */
class ZeroStateFuzzTest {

  private static byte[] written(ZeroState state) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    state.write(out);
    return out.toByteArray();
  }

  static Stream<byte[]> seeds() throws IOException {
    byte[] state =
        written(ZeroState.of(Map.of("w", Map.of("mean", Tensor.of(1f, 2f)), "v", Map.of())));
    byte[] damaged = state.clone();
    damaged[12] = -1;
    return Stream.of(
        state,
        damaged,
        written(ZeroState.of(Map.of())),
        Arrays.copyOf(state, 40),
        Arrays.copyOf(state, 8));
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyBytesAreAStateOrRefused(byte[] bytes) throws IOException {
    ZeroState state;
    try {
      state = ZeroState.read(new ByteArrayInputStream(bytes));
    } catch (IOException e) {
      assertThat(e.getMessage()).isNotEqualTo("");
      return;
    }
    ZeroState again = ZeroState.read(new ByteArrayInputStream(written(state)));
    assertThat(again.parameters().keySet()).isEqualTo(state.parameters().keySet());
  }
}
