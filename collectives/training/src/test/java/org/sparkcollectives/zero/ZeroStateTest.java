package org.sparkcollectives.zero;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Tensor;

/** Tests that a state is read as it was written, or refused. */
class ZeroStateTest {

  private static ZeroState state() {
    Map<String, Map<String, Tensor>> parameters = new LinkedHashMap<>();
    Map<String, Tensor> parts = new LinkedHashMap<>();
    parts.put("mean", Tensor.of(1f, 2f, 3f, 4f).reshape(2, 2));
    parts.put("step", Tensor.of(7L));
    parameters.put("layer.weight", parts);
    parameters.put("unused", Map.of());
    parameters.put("empty", Map.of("momentum", Tensor.of(new double[0])));
    return ZeroState.of(parameters);
  }

  private static byte[] written(ZeroState state) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    state.write(out);
    return out.toByteArray();
  }

  private static ZeroState read(byte[] bytes) throws IOException {
    return ZeroState.read(new ByteArrayInputStream(bytes));
  }

  @Test
  void aStateIsReadAsItWasWritten() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    state().write(out);
    ZeroState.of(Map.of()).write(out);
    ByteArrayInputStream in = new ByteArrayInputStream(out.toByteArray());
    Map<String, Map<String, Tensor>> read = ZeroState.read(in).parameters();
    assertThat(read.keySet()).containsExactly("layer.weight", "unused", "empty");
    assertThat(read.get("layer.weight").keySet()).containsExactly("mean", "step");
    Tensor mean = read.get("layer.weight").get("mean");
    assertThat(mean.shape()).containsExactly(2, 2);
    float[] values = new float[4];
    mean.copyTo(values);
    assertThat(values).containsExactly(1, 2, 3, 4);
    long[] step = new long[1];
    read.get("layer.weight").get("step").copyTo(step);
    assertThat(step).containsExactly(7);
    assertThat(read.get("unused")).isEmpty();
    assertThat(read.get("empty").get("momentum").count()).isZero();
    assertThat(ZeroState.read(in).parameters()).isEmpty();
    assertThat(in.available()).isZero();
  }

  @Test
  void aLargeStateIsReadPieceByPiece() throws IOException {
    double[] values = new double[400_000];
    Arrays.setAll(values, i -> i);
    ZeroState large = ZeroState.of(Map.of("w", Map.of("momentum", Tensor.of(values))));
    double[] read = new double[values.length];
    read(written(large)).parameters().get("w").get("momentum").copyTo(read);
    assertThat(read).isEqualTo(values);
  }

  @Test
  void aStateThatIsCutShortOrDamagedIsRefused() throws IOException {
    byte[] whole = written(state());
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> read(cut)).as("%d bytes", length).isInstanceOf(IOException.class);
    }
    int inTheLayout = new String(whole, StandardCharsets.ISO_8859_1).indexOf("FLOAT32");
    for (int damaged : new int[] {0, 8, inTheLayout, whole.length - 9}) {
      byte[] other = whole.clone();
      other[damaged] ^= 1;
      assertThatThrownBy(() -> read(other)).as("byte %d", damaged).isInstanceOf(IOException.class);
    }
  }

  @Test
  void theMapsCannotBeChanged() {
    Map<String, Map<String, Tensor>> parameters = state().parameters();
    assertThatThrownBy(() -> parameters.remove("unused"))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> parameters.get("layer.weight").remove("step"))
        .isInstanceOf(UnsupportedOperationException.class);
  }
}
