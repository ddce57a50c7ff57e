package org.sparkcollectives.gpu.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

final class PtxTest {

  private static final Path SOURCES = Path.of("src", "main", "cuda");

  @ParameterizedTest
  @ValueSource(strings = {"reduce", "nan_check", "convert"})
  void theTextIsMadeOfTheSourcesThatLieBeside(String module) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    digest.update(Files.readAllBytes(SOURCES.resolve("element.cuh")));
    digest.update(Files.readAllBytes(SOURCES.resolve(module + ".cu")));
    assertThat(text(module))
        .as("run src/main/cuda/compile.sh")
        .contains("// sources sha256: " + HexFormat.of().formatHex(digest.digest()) + "\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"reduce", "nan_check", "convert"})
  void theTextIsForDevicesFromVoltaOn(String module) {
    assertThat(text(module)).contains(".version 7.7\n", ".target sm_70\n");
  }

  @Test
  void everyKernelThatCanBeAskedForIsThere() {
    List<KernelName> names = names();
    assertThat(names).hasSizeGreaterThan(70);
    for (KernelName name : names) {
      assertThat(text(name.module())).contains(".visible .entry " + name.function() + "(");
    }
  }

  @Test
  void noThreadCopiesThePointersOfAReduction() {
    assertThat(text("reduce")).doesNotContain(".local");
  }

  private static List<KernelName> names() {
    List<KernelName> names = new ArrayList<>();
    for (DType dtype : DType.values()) {
      for (ReduceOp op : DeviceKernelsGpuTest.REDUCTIONS) {
        if (op.supports(dtype)) {
          names.add(KernelName.reduce(op, dtype));
        }
      }
      if (dtype.isFloatingPoint() || dtype.isComplex()) {
        names.add(KernelName.convert(dtype, dtype));
      }
      if (KernelName.nanCheck(dtype) != null) {
        names.add(KernelName.nanCheck(dtype));
      }
    }
    for (DType half : List.of(DType.FLOAT16, DType.BFLOAT16)) {
      names.add(KernelName.convert(DType.FLOAT32, half));
      names.add(KernelName.convert(half, DType.FLOAT32));
    }
    return names;
  }

  private static String text(String module) {
    return new String(KernelModules.ptx(module), StandardCharsets.US_ASCII);
  }
}
