package org.sparkcollectives.gpu.staged;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.gpu.testing.FakeLibraries;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.ForkedJvm;

/** Tests failures of collectives through the host, in processes on the fake in C. */
final class StagedFailuresTest {

  @Test
  void operationsFailWhenAPeerDies() throws Exception {
    run("death of a peer", 2, Map.of());
  }

  @Test
  void anOperationThatTheGpuHoldsUpTimesOut() throws Exception {
    run("slow GPU", 1, Map.of("FAKE_CUDA_DELAY_MICROS", "3000000"));
  }

  @Test
  void whatIsNotANumberFailsTheOperationIfSoAsked() throws Exception {
    run("not a number", 1, Map.of());
  }

  @Test
  void wrongArgumentsAreRefusedAndLeaveNothing() throws Exception {
    run("wrong arguments", 1, Map.of("FAKE_CUDA_DEVICES", "2"));
  }

  /** Runs the ranks. All finish except rank 1, which may be the one that dies. */
  private static void run(String what, int size, Map<String, String> settings) throws Exception {
    Map<String, String> environment = new HashMap<>(FakeLibraries.environment());
    // If rank 0's process sees several GPUs, it must say which is its own.
    environment.put("LOCAL_RANK", "0");
    environment.putAll(settings);
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0)) {
      List<ForkedJvm> ranks = new ArrayList<>();
      try {
        for (int rank = 0; rank < size; rank++) {
          ranks.add(
              ForkedJvm.start(
                  environment,
                  List.of("-Xmx256m"),
                  StagedFailureProgram.class,
                  String.valueOf(rank),
                  String.valueOf(size),
                  String.valueOf(store.port()),
                  what));
        }
        ForkedJvm first = ranks.get(0);
        assertThat(first.exitStatus()).as(first::output).isZero();
        assertThat(first.output()).contains(StagedFailureProgram.DONE);
      } finally {
        ranks.forEach(ForkedJvm::close);
      }
    }
  }
}
