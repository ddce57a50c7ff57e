package org.sparkcollectives.internal.recorder;

import java.util.Objects;
import org.sparkcollectives.CommLabel;

/** The labels under which threads call operations of a group. */
final class CommLabels {

  @SuppressWarnings("ThreadLocalUsage") // A thread may have labels in several groups.
  private final ThreadLocal<String> current = new ThreadLocal<>();

  /** Whether there has ever been a label, which spares operations the look into the thread. */
  private volatile boolean used;

  /** Returns the label of the calling thread; empty if it has none. */
  String current() {
    return used ? Objects.requireNonNullElse(current.get(), "") : "";
  }

  /** Begins a label on the calling thread. */
  CommLabel begin(String name) {
    used = true;
    Begun label = new Begun(name, current.get());
    current.set(name);
    return label;
  }

  private final class Begun implements CommLabel {
    private final String name;
    private final String before;
    private final Thread owner = Thread.currentThread();
    private boolean closed;

    Begun(String name, String before) {
      this.name = name;
      this.before = before;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public void close() {
      if (Thread.currentThread() != owner) {
        throw new IllegalStateException(
            "The label \""
                + name
                + "\" is closed by thread \""
                + Thread.currentThread().getName()
                + "\", but only its own thread \""
                + owner.getName()
                + "\" can end it");
      }
      if (closed) {
        return;
      }
      closed = true;
      if (before == null) {
        current.remove();
      } else {
        current.set(before);
      }
    }
  }
}
