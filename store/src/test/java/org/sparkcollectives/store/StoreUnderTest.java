package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import org.sparkcollectives.testing.Threads;

/** The store that a contract is tested on. */
interface StoreUnderTest {

  /** For what is to time out. */
  Duration SHORT = Duration.ofMillis(30);

  /** A store without data. */
  Store store();

  /** Another handle on its data, or the store itself. */
  Store other();

  /** Threads that end with the test. */
  Threads threads();

  /** Waits until so many calls wait in the store. */
  void awaitParked(int count);

  /** A value. */
  static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  /** What the call throws. */
  static StoreTimeoutException timeoutOf(Runnable call) {
    return catchThrowableOfType(StoreTimeoutException.class, call::run);
  }
}
