package org.sparkcollectives.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.Threads;

/**
 * A rank that has said that it sleeps and does not run any more, so that nobody empties its pipe:
 * the other ranks of its host publish as ever, and none is held up.
 *
 * <p>As many flags and peers as with 64 ranks on a host: a line that all of them look at, and for
 * each peer one in the memory that it writes to and one in that which it reads.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class StoppedOwnerTest {

  private static final int PEERS = 63;
  private static final int LINES = 1 + 2 * PEERS;

  /** What a pipe of Linux takes before who writes to it waits. */
  private static final int PIPE_BYTES = 64 << 10;

  /** One byte for each of them would be half as many again as the pipe takes. */
  private static final int PUBLISHED_BY_EACH = PIPE_BYTES * 3 / 2 / PEERS;

  private static final int ROUNDS = 1000;

  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(LINES * SleepFlag.BYTES).order(ByteOrder.nativeOrder());
  private final Doorbell owner = new Doorbell();
  private final List<Doorbell> bells = new ArrayList<>();
  private final List<Future<?>> publishing = new ArrayList<>();
  private final Threads threads = new Threads();
  private volatile boolean stopped;

  private SleepFlag flag(int line) {
    return new SleepFlag(memory, line * SleepFlag.BYTES);
  }

  @BeforeEach
  void open() {
    assertThat(owner.isOpen()).isTrue();
    for (int peer = 0; peer < PEERS; peer++) {
      bells.add(new Doorbell());
    }
  }

  /** Empties the pipe for peers that a failure has left in the middle of a write. */
  @AfterEach
  void close() {
    stopped = true;
    Eventually.holds(
        () -> {
          owner.silence();
          return publishing.stream().allMatch(Future::isDone);
        },
        () -> "a peer still writes");
    threads.close();
    bells.forEach(Doorbell::close);
    owner.close();
  }

  /**
   * Each peer publishes again and again, and rings for whichever of its three flags it finds: while
   * the owner runs, and then so often that a byte each time would not go into the pipe.
   */
  private void publishOn() {
    for (int peer = 0; peer < PEERS; peer++) {
      Doorbell bell = bells.get(peer);
      SleepFlag[] looksAt = {flag(0), flag(1 + 2 * peer), flag(2 + 2 * peer)};
      publishing.add(
          threads.start(
              () -> {
                while (!stopped) {
                  publish(bell, looksAt);
                  Thread.yield();
                }
                for (int i = 0; i < PUBLISHED_BY_EACH; i++) {
                  publish(bell, looksAt);
                }
                return null;
              }));
    }
  }

  private static void publish(Doorbell bell, SleepFlag... looksAt) {
    SleepFlag.publish();
    for (SleepFlag each : looksAt) {
      bell.ring(each.take());
    }
  }

  private void requireThatNobodyWasHeldUp() throws Exception {
    for (Future<?> each : publishing) {
      Threads.result(each);
    }
  }

  /** How many bytes the pipe has now. */
  private long waiting() {
    long before = owner.rung();
    owner.silence();
    return owner.rung() - before;
  }

  private void setAllFlags() {
    for (int line = 0; line < LINES; line++) {
      flag(line).set(owner.key());
    }
  }

  @Test
  void whoHasSetItsFlagsOnceAndStopsHasAByteForEachFlagHoweverMuchIsPublished() throws Exception {
    owner.silence();
    setAllFlags();
    stopped = true;
    publishOn();
    requireThatNobodyWasHeldUp();
    assertThat(waiting()).isEqualTo(LINES);
  }

  /** Flags that stay set when the pipe is emptied are answered, and so are those set after it. */
  @Test
  void whoStopsAfterSettingItsFlagsAnewHasTwoBytesForEachFlagAtTheMost() throws Exception {
    setAllFlags();
    owner.silence();
    stopped = true;
    publishOn();
    requireThatNobodyWasHeldUp();
    setAllFlags();
    publishing.clear();
    publishOn();
    requireThatNobodyWasHeldUp();
    assertThat(waiting()).isEqualTo(2 * LINES);
  }

  /** It empties the pipe before it sets flags, as {@code SocketWait} does, and stops anywhere. */
  @Test
  void whoSleepsAgainAndAgainAndStopsNeverHasMoreThanThatAndAByteForEachPeer() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    publishOn();
    long most = 0;
    for (int round = 0; round < ROUNDS; round++) {
      most = Math.max(most, waiting());
      setAllFlags();
      Thread.yield();
      if (random.nextBoolean() && round < ROUNDS - 1) {
        for (int line = 0; line < LINES; line++) {
          flag(line).clear();
        }
      }
    }
    stopped = true;
    requireThatNobodyWasHeldUp();
    most = Math.max(most, waiting());
    System.out.println(owner.rung() + " bells, " + most + " at once");
    assertThat(most).isBetween(1L, 2L * LINES + PEERS);
  }
}
