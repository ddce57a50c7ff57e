package org.sparkcollectives.spark.internal.ui;

import java.util.List;
import org.sparkcollectives.spark.event.ComparedOperation;

/**
 * Draws the newest operations that were compared. Each bar is one operation, as high as the mean
 * rank was in it; below it is the rank that came last.
 */
final class NewestOperations {

  private static final int HEIGHT = 120;
  private static final int BAR = 44;
  private static final int GAP = 6;
  private static final int LEFT = 60;
  private static final int TOP = 8;
  private static final int BELOW = 36;

  private NewestOperations() {}

  /** Adds the drawing; nothing if no operation was compared. */
  static void write(Html html, List<ComparedOperation> operations) {
    double longest = operations.stream().mapToDouble(NewestOperations::all).max().orElse(0);
    if (longest <= 0) {
      return;
    }
    html.element("h4", "The newest operations that were compared");
    html.open("p");
    Drawing.legend(html, Drawing.MOVING, "at work, as long as on the rank that came last");
    Drawing.legend(html, Drawing.WAITING, "waiting for that rank, the mean of all ranks");
    html.close("p");
    int width = operations.size() * (BAR + GAP);
    Drawing drawing =
        new Drawing(
            html,
            "collectives-newest",
            LEFT + width,
            TOP + HEIGHT + BELOW,
            "How long the newest operations took, and for which rank the others waited");
    drawing.label(LEFT - 6, TOP + 10, "end", Format.seconds(longest));
    drawing.label(LEFT - 6, TOP + HEIGHT, "end", "0 s");
    double x = LEFT;
    for (ComparedOperation each : operations) {
      double waiting = HEIGHT * each.waitedSeconds() / longest;
      double moving = HEIGHT * each.seconds() / longest;
      drawing.open(description(each));
      drawing.rectangle(x, TOP + HEIGHT - moving - waiting, BAR, waiting, Drawing.WAITING);
      drawing.rectangle(x, TOP + HEIGHT - moving, BAR, moving, Drawing.MOVING);
      drawing.label(x + BAR / 2.0, TOP + HEIGHT + 14, "middle", "#" + each.sequence());
      drawing.label(x + BAR / 2.0, TOP + HEIGHT + 28, "middle", "rank " + each.last());
      drawing.close();
      x += BAR + GAP;
    }
    drawing.end();
  }

  private static double all(ComparedOperation operation) {
    return operation.seconds() + operation.waitedSeconds();
  }

  private static String description(ComparedOperation operation) {
    return operation.operation()
        + " #"
        + operation.sequence()
        + ": "
        + Format.seconds(operation.seconds())
        + " at work, "
        + Format.seconds(operation.waitedSeconds())
        + " waiting for rank "
        + operation.last();
  }
}
