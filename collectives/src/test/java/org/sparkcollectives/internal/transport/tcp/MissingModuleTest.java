package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.RankThreads;

/** Ranks in a Java that was linked without modules that the library can do without. */
class MissingModuleTest {

  @Test
  void ranksConnectAndRecordWithoutTheModulesJdkNetAndJdkJfr() throws Exception {
    List<String> options = List.of("-Xmx256m", "--limit-modules", "java.se,jdk.unsupported");
    try (ForkedJvm process = ForkedJvm.start(options, TwoRanks.class)) {
      assertThat(process.exitStatus()).describedAs(process.output()).isZero();
      assertThat(process.output()).contains("the sum is 3.0").contains("lacks the module jdk.net");
    }
  }

  /** Adds up over TCP, in two threads. */
  static final class TwoRanks {

    private TwoRanks() {}

    public static void main(String[] args) {
      try (HashStore store = new HashStore()) {
        RankThreads.run(
            2,
            rank -> {
              GroupOptions options = GroupOptions.defaults().withTransports("tcp");
              float[] sum = {rank + 1};
              try (ProcessGroup group = ProcessGroups.create(store, rank, 2, options)) {
                group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
              }
              System.out.println("the sum is " + sum[0]);
              return null;
            });
      }
    }
  }
}
