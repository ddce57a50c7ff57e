package org.sparkcollectives.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.net.TransportSecurity;

/** Tests which GPU a rank works on, by Spark, the environment and the configuration. */
class GpuChoiceTest {

  private final FakeCuda cuda = new FakeCuda(4);

  @AfterEach
  void nothingIsLeft() {
    assertThat(cuda.leaks()).isEmpty();
    cuda.close();
  }

  private int ordinal(Map<String, String> environment, List<String> addresses, String... settings) {
    HostedRank rank =
        new HostedRank(List.of(settings), TransportSecurity.plain()) {
          @Override
          public List<String> gpuAddresses() {
            return addresses;
          }
        };
    return new GpuChoice(cuda, environment::get).ordinal(rank);
  }

  @Test
  void anAddressOfSparkIsTheNumberOfAGpuOfTheHost() {
    assertThat(ordinal(Map.of(), List.of("2"))).isEqualTo(2);
  }

  @Test
  void visibleDevicesRenumberTheGpus() {
    assertThat(ordinal(Map.of("CUDA_VISIBLE_DEVICES", "2,3"), List.of("3"))).isEqualTo(1);
    assertThatThrownBy(() -> ordinal(Map.of("CUDA_VISIBLE_DEVICES", "2,3"), List.of("0")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("lets this process see only 2,3")
        .hasMessageContaining("spark.collectives.gpu.ordinal");
    assertThatThrownBy(
            () -> ordinal(Map.of("CUDA_VISIBLE_DEVICES", "GPU-8f1,GPU-9a2"), List.of("0")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("does not say which of its entries");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | see none (it is \"\")",
        "-1 | see none (it is \"-1\")",
        "2,-1,0 | see only 2,-1,0",
        "2,,0 | see only 2,,0"
      })
  void cudaReadsNoFurtherThanToAnEntryThatNamesNoGpu(String visible, String words) {
    assertThat(ordinal(Map.of("CUDA_VISIBLE_DEVICES", "2,3,-1,0"), List.of("3"))).isEqualTo(1);
    assertThatThrownBy(() -> ordinal(Map.of("CUDA_VISIBLE_DEVICES", visible), List.of("0")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("lets this process " + words);
  }

  @Test
  void anAddressMayBeAUuid() {
    assertThat(ordinal(Map.of(), List.of("GPU-00000000-0000-0000-0000-000000000003"))).isEqualTo(3);
    assertThatThrownBy(() -> ordinal(Map.of(), List.of("GPU-17")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("GPU-17")
        .hasMessageContaining("GPU-00000000-0000-0000-0000-000000000000");
  }

  @Test
  void ofSeveralAddressesTheFirstIsTaken() {
    assertThat(ordinal(Map.of(), List.of("1", "3"))).isEqualTo(1);
  }

  @Test
  void theConfigurationOverridesEverything() {
    assertThat(
            ordinal(
                Map.of("CUDA_VISIBLE_DEVICES", "7", "LOCAL_RANK", "1"),
                List.of("0"),
                "spark.collectives.gpu.ordinal=3"))
        .isEqualTo(3);
  }

  @Test
  void outsideSparkTheLocalRankCounts() {
    assertThat(ordinal(Map.of("LOCAL_RANK", "2"), List.of())).isEqualTo(2);
    assertThatThrownBy(() -> ordinal(Map.of("LOCAL_RANK", "two"), List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("LOCAL_RANK is \"two\"");
    assertThatThrownBy(() -> ordinal(Map.of(), List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("The GPU of the rank, among the 4 of this process");
  }
}
