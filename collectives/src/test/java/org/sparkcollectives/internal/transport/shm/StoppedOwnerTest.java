package org.sparkcollectives.internal.transport.shm;

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
 * Tests a rank that has announced that it sleeps and then stops running, so that nobody empties its
 * pipe: the other ranks of its host go on publishing, and none of them blocks.
 *
 * <p>There are as many flags and peers as with 64 ranks on a host: one flag that all peers watch,
 * and two for each peer, one in the memory that it writes to and one in the memory that it reads.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class StoppedOwnerTest {

  private static final int PEERS = 63;
  private static final int LINES = 1 + 2 * PEERS;

  /** The bytes that a Linux pipe takes before a writer blocks. */
  private static final int PIPE_BYTES = 64 << 10;

  /**
   * How often each peer publishes: with one byte each, that would be half as many again as the pipe
   * takes.
   */
  private static final int PUBLISHED_BY_EACH = PIPE_BYTES * 3 / 2 / PEERS;

  private static final int ROUNDS = 1000;

  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(LINES * SleepFlag.BYTES).order(ByteOrder.nativeOrder());
  private final Doorbell owner = new Doorbell(Runnable::run);
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
      bells.add(new Doorbell(Runnable::run));
    }
  }

  /** Empties the pipe, for peers that a failed test has left blocked in a write. */
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
   * Makes each peer publish again and again, and wake the owner through whichever of its three
   * flags is set: while the owner runs, and afterwards so often that one byte each time would not
   * fit into the pipe.
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

  /** Returns how many bytes the pipe holds now. */
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

  /**
   * Checks that the flags set when the pipe is emptied are answered, and those set after it too.
   */
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

  /**
   * Has an owner that empties the pipe before it sets flags, as {@code SocketWait} does, and stops
   * anywhere.
   */
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
