package org.sparkcollectives.internal.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.FaultyStore;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.RankThreads;

/**
 * Tests that a group closes on a rank whatever one call of its store or its host throws meanwhile:
 * it leaves no thread, no port, and no key in the store, and its host takes it for closed. Each
 * call that the close makes throws once.
 */
@ExtendWith(LeakCheck.class)
class GroupClosingTest {

  private static final int SIZE = 2;
  private static final int FAULTY = 1;

  /** A close makes more than so many calls. */
  private static final int FEWEST_CALLS = 10;

  /** The store and the host of one rank, of which a call throws while the rank closes its group. */
  private static final class Surroundings {
    private final int faultAt;
    private final Set<String> joined = new HashSet<>();
    private final RankContext host;
    private boolean closing;
    private int calls;
    private Error fault;
    private boolean keepsKeys;

    Surroundings(int faultAt, int port) {
      this.faultAt = faultAt;
      this.host =
          new HostedRank(
              List.of("spark.collectives.port=" + port, "spark.port.maxRetries=0"),
              TransportSecurity.plain());
    }

    private synchronized void call(String name) {
      if (closing && isWithin("closeAll") && calls++ == faultAt) {
        keepsKeys = isWithin("removeKeysIfLast");
        fault = new LinkageError("call " + faultAt + ": " + name);
        throw fault;
      }
    }

    private static boolean isWithin(String method) {
      return StackWalker.getInstance()
          .walk(
              frames ->
                  frames.anyMatch(
                      each ->
                          each.getClassName().equals(RankGroup.class.getName())
                              && each.getMethodName().equals(method)));
    }

    ProcessGroup group(HashStore store, GroupOptions options) {
      return HostedGroups.create(
          FaultyStore.over(
              store, (method, argument) -> call(method + " " + argument), FaultyStore.NONE),
          FAULTY,
          SIZE,
          options,
          context());
    }

    private RankContext context() {
      return (RankContext)
          Proxy.newProxyInstance(
              RankContext.class.getClassLoader(),
              new Class<?>[] {RankContext.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("joined")) {
                  joined.add((String) arguments[0]);
                } else if (method.getName().equals("left")) {
                  joined.remove(arguments[0]);
                }
                call(method.getName());
                try {
                  return method.invoke(host, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    }

    Throwable close(ProcessGroup group) {
      closing = true;
      try {
        return catchThrowable(group::close);
      } finally {
        closing = false;
      }
    }
  }

  @ParameterizedTest(name = "{0}, failed: {1}")
  @CsvSource({"'heap,tcp', false", "'heap,tcp', true", "tcp, false", "tcp, true"})
  void aCallThatThrowsWhileAGroupClosesKeepsNothingOpen(String transports, boolean failed)
      throws IOException {
    GroupOptions options =
        GroupOptions.defaults().withName("world").withTransports(transports.split(","));
    int port = RankProcesses.freePort();
    Surroundings surroundings;
    int faultAt = 0;
    do {
      surroundings = new Surroundings(faultAt++, port);
      assertClosed(surroundings, options, failed);
      // Throws if somebody listens there.
      new ServerSocket(port).close();
    } while (surroundings.fault != null);
    assertThat(faultAt).isGreaterThan(FEWEST_CALLS);
  }

  private static void assertClosed(
      Surroundings surroundings, GroupOptions options, boolean failed) {
    CountDownLatch otherIsClosed = new CountDownLatch(1);
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          SIZE,
          rank -> {
            if (rank != FAULTY) {
              try (ProcessGroup world =
                  HostedGroups.create(store, rank, SIZE, options, RankContext.process())) {
                world.newGroup(0, 1).barrier().await();
              }
              otherIsClosed.countDown();
              return null;
            }
            ProcessGroup world = surroundings.group(store, options);
            world.newGroup(0, 1).barrier().await();
            assertThat(otherIsClosed.await(60, TimeUnit.SECONDS)).isTrue();
            if (failed) {
              world.abort(new IllegalStateException("of a user"));
            }
            Throwable thrown = surroundings.close(world);
            if (thrown != null) {
              assertThat(thrown).isSameAs(surroundings.fault).hasNoSuppressedExceptions();
            }
            assertThat(surroundings.joined).as("after %s", surroundings.fault).isEmpty();
            return null;
          });
      // A rank that cannot remove them leaves them to the end of the store.
      if (!surroundings.keepsKeys) {
        assertThat(store.listKeys()).as("after %s", surroundings.fault).isEmpty();
      }
    }
  }
}
