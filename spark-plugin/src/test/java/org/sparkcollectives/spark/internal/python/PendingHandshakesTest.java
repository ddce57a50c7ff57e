package org.sparkcollectives.spark.internal.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.Closeable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PendingHandshakesTest {

  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE);
  private final PendingHandshakes pending = new PendingHandshakes(2, clock::get);
  private final List<String> closed = new ArrayList<>();
  private final Closeable first = () -> closed.add("first");
  private final Closeable second = () -> closed.add("second");
  private final Closeable third = () -> closed.add("third");

  @Test
  void aNewConnectionDisplacesTheOldestUnlessThatIsNewToo() {
    assertThat(pending.add(first)).isTrue();
    clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(900));
    assertThat(pending.add(second)).isTrue();
    assertThat(pending.add(third)).isFalse();
    clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(200));
    assertThat(closed).isEmpty();
    assertThat(pending.add(third)).isTrue();
    assertThat(closed).containsExactly("first");
    pending.closeAll();
    assertThat(closed).containsExactly("first", "second", "third");
  }

  @Test
  void whoHasProvenItselfTakesNoPlace() {
    pending.add(first);
    pending.add(second);
    pending.remove(first);
    assertThat(pending.add(third)).isTrue();
    assertThat(closed).isEmpty();
  }
}
