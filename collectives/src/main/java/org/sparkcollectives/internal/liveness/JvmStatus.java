package org.sparkcollectives.internal.liveness;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.RuntimeMXBean;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Collectors;

/** Describes this JVM, independently of its groups. */
public final class JvmStatus {

  private static final long MEGABYTE = 1 << 20;

  private JvmStatus() {}

  /** Returns its process, age and memory, in one line. */
  public static String summary() {
    RuntimeMXBean runtime = ManagementFactory.getRuntimeMXBean();
    Runtime memory = Runtime.getRuntime();
    long direct =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
    return "process "
        + runtime.getPid()
        + ", up "
        + Duration.ofMillis(runtime.getUptime()).toSeconds()
        + " s, heap "
        + (memory.totalMemory() - memory.freeMemory()) / MEGABYTE
        + " of "
        + memory.maxMemory() / MEGABYTE
        + " MiB, direct memory "
        + direct / MEGABYTE
        + " MiB, "
        + ManagementFactory.getThreadMXBean().getThreadCount()
        + " threads, Java "
        + Runtime.version();
  }

  /**
   * Returns the stacks of all threads, with the locks that they wait for and hold. Stops all
   * threads for a moment.
   */
  public static String stacks() {
    ThreadInfo[] threads = ManagementFactory.getThreadMXBean().dumpAllThreads(true, true);
    return Arrays.stream(threads)
        .sorted(Comparator.comparing(ThreadInfo::getThreadName))
        .map(JvmStatus::describe)
        .collect(Collectors.joining("\n"));
  }

  private static String describe(ThreadInfo thread) {
    StringBuilder text =
        new StringBuilder("\"" + thread.getThreadName() + "\" " + thread.getThreadState());
    if (thread.getLockName() != null) {
      text.append(" on ").append(thread.getLockName());
    }
    if (thread.getLockOwnerName() != null) {
      text.append(", which \"").append(thread.getLockOwnerName()).append("\" holds");
    }
    StackTraceElement[] frames = thread.getStackTrace();
    for (int depth = 0; depth < frames.length; depth++) {
      text.append("\n\tat ").append(frames[depth]);
      for (MonitorInfo monitor : thread.getLockedMonitors()) {
        if (monitor.getLockedStackDepth() == depth) {
          text.append("\n\t- holds ").append(monitor);
        }
      }
    }
    for (LockInfo lock : thread.getLockedSynchronizers()) {
      text.append("\n\t- holds ").append(lock);
    }
    return text.append('\n').toString();
  }
}
