package org.sparkcollectives.examples.digits;

import java.util.List;
import java.util.Locale;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Shows the epochs while the stage runs: a bar on the error stream, with the latest epoch beside
 * it. The epochs come from an accumulator, whose values are sent to the driver with the heartbeats
 * of the executors ({@code spark.executor.heartbeatInterval}); so no port is open for them.
 */
final class ProgressDisplay extends SparkListener implements AutoCloseable {

  private final long accumulator;
  private final ProgressBar bar;

  /**
   * Starts the display.
   *
   * @param accumulator the id of the accumulator to which rank 0 adds each epoch
   */
  ProgressDisplay(long accumulator, int epochs) {
    this.accumulator = accumulator;
    bar =
        new ProgressBarBuilder()
            .setTaskName("epochs")
            .setInitialMax(epochs)
            .setStyle(ProgressBarStyle.ASCII)
            .setUpdateIntervalMillis(200)
            .build();
  }

  @Override
  public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate event) {
    CollectionConverters.asJava(event.accumUpdates())
        .forEach(task -> CollectionConverters.asJava(task._4()).forEach(this::update));
  }

  private void update(AccumulableInfo info) {
    if (info.id() == accumulator && info.update().isDefined()) {
      List<?> ended = (List<?>) info.update().get();
      if (!ended.isEmpty()) {
        show(Epoch.ofArray((double[]) ended.get(ended.size() - 1)));
      }
    }
  }

  /**
   * Shows an epoch as the latest. A stage that is tried again returns to the epoch with which it
   * begins.
   */
  void show(Epoch epoch) {
    bar.stepTo(epoch.number());
    bar.setExtraMessage(measures(epoch));
  }

  /** Returns how many epochs the bar shows. */
  long shown() {
    return bar.getCurrent();
  }

  /** Returns the line of an epoch. */
  static String line(Epoch epoch) {
    return String.format(Locale.ROOT, "epoch %3d  %s", epoch.number(), measures(epoch));
  }

  private static String measures(Epoch epoch) {
    return String.format(Locale.ROOT, "loss %.4f  accuracy %.4f", epoch.loss(), epoch.accuracy());
  }

  /** Ends the bar, and its thread. */
  @Override
  public void close() {
    bar.close();
  }
}
