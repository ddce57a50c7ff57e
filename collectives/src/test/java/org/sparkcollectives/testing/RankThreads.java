package org.sparkcollectives.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs a test's body once for each rank, on threads of this JVM. */
public final class RankThreads {

  /** The limit, longer than any test should take on a slow machine. */
  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** The code of one rank. */
  public interface Body<T> {

    /** Runs as this rank; an exception fails the test. */
    T run(int rank) throws Exception;
  }

  private RankThreads() {}

  /**
   * Runs {@code body} for the ranks 0 to {@code size - 1} at once and returns their results in rank
   * order. When one throws, the others have until the limit to end; then the first exception
   * counts. When they hang, the error shows all stacks.
   */
  public static <T> List<T> run(int size, Body<T> body) {
    List<CompletableFuture<T>> results = new ArrayList<>();
    CompletableFuture<Throwable> first = new CompletableFuture<>();
    for (int i = 0; i < size; i++) {
      int rank = i;
      CompletableFuture<T> result = new CompletableFuture<>();
      results.add(result);
      Thread thread =
          new Thread(
              () -> {
                try {
                  result.complete(body.run(rank));
                } catch (Throwable e) {
                  first.complete(e);
                  result.completeExceptionally(e);
                }
              },
              "rank-" + rank);
      thread.setDaemon(true);
      thread.start();
    }
    try {
      CompletableFuture.allOf(results.toArray(CompletableFuture<?>[]::new))
          .get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      // The summary of a build shows the message only, and not the cause.
      throw new AssertionError("A rank failed: " + first.join(), first.join());
    } catch (TimeoutException e) {
      Throwable cause = first.getNow(e);
      throw new AssertionError(
          "The ranks hang after " + LIMIT + ", first: " + cause + stacks(), cause);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return results.stream().map(CompletableFuture::join).toList();
  }

  private static String stacks() {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<Thread, StackTraceElement[]> each : Thread.getAllStackTraces().entrySet()) {
      text.append("\n\n").append(each.getKey().getName());
      for (StackTraceElement frame : each.getValue()) {
        text.append("\n\tat ").append(frame);
      }
    }
    return text.toString();
  }
}
