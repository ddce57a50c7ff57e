package org.sparkcollectives.examples.digits;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * Shows the epochs while the stage runs: a bar on the error stream, with the latest epoch beside
 * it, and after it a line for each epoch on the output.
 */
final class ProgressDisplay {

  private final ProgressFeed.Server feed;
  private final int epochs;
  private final PrintStream out;

  ProgressDisplay(ProgressFeed.Server feed, int epochs, PrintStream out) {
    this.feed = feed;
    this.epochs = epochs;
    this.out = out;
  }

  /** Begins, on a thread of its own that ends with the last epoch or when the feed is closed. */
  CompletableFuture<List<Epoch>> start() {
    return CompletableFuture.supplyAsync(
        this::show,
        task -> {
          Thread thread = new Thread(task, "digits-progress");
          thread.setDaemon(true);
          thread.start();
        });
  }

  private List<Epoch> show() {
    ProgressBarBuilder builder =
        new ProgressBarBuilder()
            .setTaskName("epochs")
            .setInitialMax(epochs)
            .setStyle(ProgressBarStyle.ASCII)
            .setUpdateIntervalMillis(200);
    List<Epoch> shown = new ArrayList<>();
    try (ProgressBar bar = builder.build()) {
      while (shown.size() < epochs) {
        Epoch epoch = feed.next();
        // A stage that is tried again begins with the first epoch again.
        shown.removeIf(earlier -> earlier.number() >= epoch.number());
        shown.add(epoch);
        bar.stepTo(shown.size());
        bar.setExtraMessage(measures(epoch));
      }
    } finally {
      for (Epoch epoch : shown) {
        out.println(String.format(Locale.ROOT, "epoch %3d  %s", epoch.number(), measures(epoch)));
      }
    }
    return shown;
  }

  private static String measures(Epoch epoch) {
    return String.format(Locale.ROOT, "loss %.4f  accuracy %.4f", epoch.loss(), epoch.accuracy());
  }
}
