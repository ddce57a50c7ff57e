package org.sparkcollectives.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Iterator;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.CollectivesConfiguration;

/**
 * A process that is a rank of one group after the other, all of them made by a {@code tcp://}
 * rendezvous, whose store rank 0 serves. It does what its input says, and prints:
 *
 * <pre>
 *   join MILLIS ROUNDS URL CALL MILLIS
 *                  it joins with this timeout, makes this call so often with the other, and prints
 *                  joining MICROS     when it began
 *                  joined MICROS      when it had the group
 *                  ended OUTCOME      what the making of the group or an operation threw
 *                  closed MICROS      when everything was released
 *                  left               what is still there of the library: nothing
 * </pre>
 */
final class LinkedRank {

  private static final int COUNT = 10_000;

  /** The calls that it makes: each waits for another rank. */
  enum Call {
    REDUCE {
      @Override
      void run(ProcessGroup group) {
        group.allReduce(Tensor.of(new double[COUNT]), ReduceOp.SUM).await();
      }
    },
    MESSAGE {
      @Override
      void run(ProcessGroup group) {
        Work sent = group.send(Tensor.of(1.0), (group.rank() + 1) % group.size());
        group.recv(Tensor.of(0.0), (group.rank() + group.size() - 1) % group.size()).await();
        sent.await();
      }
    };

    abstract void run(ProcessGroup group);
  }

  private LinkedRank() {}

  /**
   * Runs the process until its input ends.
   *
   * @param arguments the milliseconds of the heartbeat timeout
   */
  public static void main(String[] arguments) throws Exception {
    int heartbeat = Integer.parseInt(arguments[0]);
    set(CollectivesConfiguration.HEARTBEAT_TIMEOUT.key(), heartbeat + "ms");
    set(CollectivesConfiguration.RENDEZVOUS_SECRET.key(), "of these ranks alone");
    Remains remains = new Remains("/dev/shm/");
    Iterator<String> commands =
        new BufferedReader(new InputStreamReader(System.in, UTF_8)).lines().iterator();
    System.out.println("started");
    while (commands.hasNext()) {
      String[] words = commands.next().split(" ", -1);
      join(
          words[3],
          Duration.ofMillis(Integer.parseInt(words[1])),
          Integer.parseInt(words[2]),
          Call.valueOf(words[4]),
          Duration.ofMillis(Integer.parseInt(words[5])));
      System.out.println("left\t" + String.join(", ", remains.await()));
    }
  }

  private static void set(String key, String value) {
    System.setProperty(key, value);
  }

  private static void join(
      String url, Duration timeout, int rounds, Call call, Duration ofEachCall) {
    GroupOptions options = GroupOptions.defaults().withTimeout(timeout);
    say("joining");
    try (ProcessGroup world = Rendezvous.join(url, options)) {
      say("joined");
      try {
        for (int i = 0; i < rounds; i++) {
          call.run(world.withTimeout(ofEachCall));
        }
        System.out.println("ended\t" + Outcome.well("has done its rounds").encode());
      } catch (RuntimeException e) {
        System.out.println("ended\t" + Outcome.of(e).encode());
      }
    } catch (RuntimeException e) {
      System.out.println("ended\t" + Outcome.of(e).encode());
    }
    say("closed");
  }

  private static void say(String word) {
    System.out.println(word + "\t" + Outcome.now());
  }
}
