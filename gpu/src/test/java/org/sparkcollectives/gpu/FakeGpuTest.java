package org.sparkcollectives.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.gpu.testing.FakeLibraries;
import org.sparkcollectives.gpu.testing.GpuTestProgram;
import org.sparkcollectives.testing.ForkedJvm;

/**
 * Runs the tests that are meant for a GPU on the fake: this tests the bindings, and the tests
 * themselves.
 */
final class FakeGpuTest {

  /** The limit of many tests, some of which start several JVMs. */
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @Test
  void theTestsOfTheGpuPassOnTheFake() throws Exception {
    Map<String, String> environment = new HashMap<>(FakeLibraries.environment());
    environment.put("FAKE_CUDA_DEVICES", "1");
    try (ForkedJvm tests =
        ForkedJvm.start(environment, List.of("-Xmx512m"), GpuTestProgram.class)) {
      assertThat(tests.exitStatus(LIMIT)).as(tests::output).isZero();
      assertThat(tests.output()).contains(GpuTestProgram.PASSED);
    }
  }
}
