package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests that a start allocates less than the plain call, which describes itself anew each time. */
@ExtendWith(LeakCheck.class)
class PersistentAllocationTest {

  private static final int CALLS = 2_000;

  @Test
  void aStartAllocatesAboutHalfOfWhatThePlainCallDoes() {
    // A group of one rank: its thread runs all there is to run, and waits for nobody.
    GroupRuns.run(
        1,
        GroupOptions.defaults(),
        group -> {
          Tensor tensor = Tensor.of(1f);
          PersistentCollective sum = group.allReduceInit(tensor);
          Runnable plain = () -> group.allReduce(tensor).await();
          Runnable persistent = () -> sum.start().await();
          bytesPerCall(plain);
          bytesPerCall(persistent);
          assertThat(bytesPerCall(persistent)).isLessThan(bytesPerCall(plain) * 6 / 10);
          return null;
        });
  }

  private static long bytesPerCall(Runnable call) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    long before = threads.getThreadAllocatedBytes(thread);
    for (int i = 0; i < CALLS; i++) {
      call.run();
    }
    return (threads.getThreadAllocatedBytes(thread) - before) / CALLS;
  }
}
