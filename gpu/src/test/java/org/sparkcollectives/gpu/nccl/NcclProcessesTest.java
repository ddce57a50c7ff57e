package org.sparkcollectives.gpu.nccl;

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

/** Tests NCCL groups whose ranks are processes, through the real bindings, on the fake in C. */
final class NcclProcessesTest {

  @Test
  void groupsComeFromTheCommunicatorOfAnother() throws Exception {
    run("split", 3);
  }

  @Test
  void whatIsNotANumberIsFoundOnTheGpu() throws Exception {
    run("not a number", 2);
  }

  @Test
  void callsAreComparedBeforeTheyGoToNccl() throws Exception {
    run("detail", 3);
  }

  @Test
  void everyCollectiveIsThereAlsoWithTheOldestNccl() throws Exception {
    run("every collective", 3, FakeLibraries.environmentOfNccl(22304));
  }

  private static void run(String what, int size) throws Exception {
    run(what, size, FakeLibraries.environment());
  }

  private static void run(String what, int size, Map<String, String> libraries) throws Exception {
    Map<String, String> environment = new HashMap<>(libraries);
    environment.put("FAKE_CUDA_DEVICES", String.valueOf(size));
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0)) {
      List<ForkedJvm> ranks = new ArrayList<>();
      try {
        for (int rank = 0; rank < size; rank++) {
          ranks.add(
              ForkedJvm.start(
                  environment,
                  List.of("-Xmx256m"),
                  NcclRankProgram.class,
                  String.valueOf(rank),
                  String.valueOf(size),
                  String.valueOf(store.port()),
                  what));
        }
        for (ForkedJvm rank : ranks) {
          assertThat(rank.exitStatus()).as(rank::output).isZero();
          assertThat(rank.output()).contains(NcclRankProgram.DONE);
        }
      } finally {
        ranks.forEach(ForkedJvm::close);
      }
    }
  }
}
