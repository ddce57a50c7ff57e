package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.gpu.testing.FakeLibraries;

/** Tests the paths at which NCCL is searched, and the error if it is at none. */
class NcclLibraryTest {

  @Test
  void aConfiguredPathIsTheOnlyOne() {
    Map<String, String> environment = Map.of(NcclLibrary.ENVIRONMENT, "/env/libnccl.so.2");
    assertThat(NcclLibrary.paths("/opt/libnccl.so.2", environment))
        .containsExactly("/opt/libnccl.so.2");
    assertThat(NcclLibrary.paths("", environment)).containsExactly("/env/libnccl.so.2");
    assertThat(NcclLibrary.paths("", Map.of()).get(0)).isEqualTo("libnccl.so.2");
  }

  @ParameterizedTest
  @CsvSource({
    "VIRTUAL_ENV, '', lib/python3.12/site-packages/nvidia/nccl/lib",
    "PYSPARK_PYTHON, bin/python3, lib/python3.12/site-packages/nvidia/nccl/lib",
    "VIRTUAL_ENV, '', lib/python3.9/dist-packages/torch/lib",
    "CONDA_PREFIX, '', lib"
  })
  void pythonEnvironmentsAreSearched(
      String variable, String value, String folder, @TempDir Path root) throws Exception {
    Files.createDirectories(root.resolve(folder));
    Path library = Files.createFile(root.resolve(folder).resolve("libnccl.so.2"));
    assertThat(NcclLibrary.paths("", Map.of(variable, root.resolve(value).toString())))
        .startsWith("libnccl.so.2", library.toString());
  }

  @Test
  void theErrorNamesEveryPathThatWasTried() {
    assertThatThrownBy(
            () -> NcclLibrary.load(List.of("/nowhere/libnccl.so.2", "/neither/libnccl.so.2")))
        .isInstanceOf(NcclException.class)
        .hasMessageContaining("/nowhere/libnccl.so.2")
        .hasMessageContaining("/neither/libnccl.so.2")
        .hasMessageContaining("spark.collectives.gpu.nccl.library")
        .hasMessageContaining("SPARK_COLLECTIVES_NCCL_LIBRARY");
  }

  @Test
  void aVersionThatIsTooOldIsRefusedWithTheOldestThatIsNot() throws Exception {
    String old = FakeLibraries.environmentOfNccl(22203).get("LD_LIBRARY_PATH") + "/libnccl.so.2";
    assertThatThrownBy(() -> NcclLibrary.load(List.of(old)))
        .isInstanceOf(NcclException.class)
        .hasMessageContaining("NCCL 2.22.3, found as " + old)
        .hasMessageContaining("2.23.0 is the oldest that can be used");
  }

  @Test
  void aVersionReadsAsPeopleWriteIt() {
    assertThat(NcclLibrary.text(22809)).isEqualTo("2.28.9");
    assertThat(NcclLibrary.text(22300)).isEqualTo("2.23.0");
    assertThat(NcclLibrary.text(2804)).isEqualTo("2.8.4");
  }
}
