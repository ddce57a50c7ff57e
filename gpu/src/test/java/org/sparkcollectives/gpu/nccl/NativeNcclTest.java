package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.gpu.testing.FakeLibraries;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.ForkedJvm;

/** Tests the bindings of NCCL in processes of their own, against the fake library in C. */
final class NativeNcclTest {

  private static final int SIZE = 3;

  @ParameterizedTest
  @ValueSource(strings = {"calls", "scalable", "without blocking"})
  void allCallsArriveAsTheyWereMade(String what) throws Exception {
    run(what, Map.of(), SIZE);
  }

  @ParameterizedTest
  @ValueSource(ints = {22304, 22703, 23007})
  void olderAndNewerVersionsTakeTheSameSettings(int version) throws Exception {
    run("calls", Map.of(), SIZE, FakeLibraries.environmentOfNccl(version));
  }

  @Test
  void anAbortIsARemoteErrorToThePeers() throws Exception {
    run("abort", Map.of(), SIZE);
  }

  @Test
  void aDeathIsARemoteErrorToThePeers() throws Exception {
    run("death", Map.of(), 1);
  }

  @Test
  void anAsynchronousErrorIsReported() throws Exception {
    run("injected error", Map.of("FAKE_NCCL_ERROR_AFTER", "1=3"), SIZE);
  }

  @Test
  void twoRanksOnOneGpuAreRefused() throws Exception {
    run("one GPU for two", Map.of("CUDA_VISIBLE_DEVICES", "0"), SIZE);
  }

  @Test
  void aRankThatNeverComesKeepsTheOthersInProgress() throws Exception {
    run("absent rank", Map.of("FAKE_NCCL_ABSENT", "1"), SIZE);
  }

  /**
   * Runs each rank on a GPU of its own, unless the environment of rank 0 says otherwise for all.
   *
   * @param whole how many ranks finish: all, or only those other than rank 1
   */
  private static void run(String what, Map<String, String> settings, int whole) throws Exception {
    run(what, settings, whole, FakeLibraries.environment());
  }

  private static void run(
      String what, Map<String, String> settings, int whole, Map<String, String> libraries)
      throws Exception {
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0)) {
      List<ForkedJvm> ranks = new ArrayList<>();
      try {
        for (int rank = 0; rank < SIZE; rank++) {
          Map<String, String> environment = new HashMap<>(libraries);
          environment.put("FAKE_CUDA_DEVICES", String.valueOf(SIZE));
          environment.put("CUDA_VISIBLE_DEVICES", String.valueOf(rank));
          if (rank == 0 || settings.containsKey("CUDA_VISIBLE_DEVICES")) {
            environment.putAll(settings);
          }
          ranks.add(
              ForkedJvm.start(
                  environment,
                  List.of("-Xmx256m"),
                  NcclProgram.class,
                  String.valueOf(rank),
                  String.valueOf(SIZE),
                  String.valueOf(store.port()),
                  what));
        }
        for (int rank = 0; rank < SIZE; rank++) {
          ForkedJvm process = ranks.get(rank);
          assertThat(process.exitStatus()).as(process::output).isZero();
          if (whole == SIZE || rank != 1) {
            assertThat(process.output()).contains(NcclProgram.DONE);
          }
        }
      } finally {
        ranks.forEach(ForkedJvm::close);
      }
    }
  }
}
