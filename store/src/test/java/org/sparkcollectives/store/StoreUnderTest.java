package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import org.sparkcollectives.testing.Threads;

/** The store that a contract is tested on. */
interface StoreUnderTest {

  /** The timeout of calls that are meant to time out. */
  Duration SHORT = Duration.ofMillis(30);

  /** Returns a store without data. */
  Store store();

  /** Returns another handle on its data, or the store itself. */
  Store other();

  /** Returns threads that end with the test. */
  Threads threads();

  /** Waits until so many calls wait in the store. */
  void awaitParked(int count);

  /** Returns a value. */
  static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  /** Returns the timeout that the call throws. */
  static StoreTimeoutException timeoutOf(Runnable call) {
    return catchThrowableOfType(StoreTimeoutException.class, call::run);
  }
}
