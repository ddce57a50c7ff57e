package org.sparkcollectives.spark.internal.ui;

import java.util.List;
import org.sparkcollectives.spark.internal.ui.GroupDetails.Interval;

/**
 * Draws what a group did in the last intervals. Each bar is one interval, and its parts are shares
 * of its time.
 */
final class Timeline {

  private static final int HEIGHT = 120;
  private static final int WIDTH = 960;
  private static final int LEFT = 40;
  private static final int TOP = 8;
  private static final int BELOW = 24;
  private static final double LEAST_BAR = 1;

  private Timeline() {}

  /**
   * Adds the drawing; nothing if there are no intervals.
   *
   * @param ranks the size of the group
   */
  static void write(Html html, int ranks, List<Interval> intervals) {
    if (intervals.isEmpty()) {
      return;
    }
    html.element("h4", "Timeline");
    html.open("p");
    Drawing.legend(html, Drawing.MOVING, "in collectives, at work");
    Drawing.legend(html, Drawing.WAITING, "in collectives, waiting for the last rank");
    Drawing.legend(html, Drawing.OUTSIDE, "outside of collectives");
    html.close("p");
    long from = intervals.get(0).from();
    long to = Math.max(from + 1, intervals.get(intervals.size() - 1).to());
    Drawing drawing =
        new Drawing(
            html,
            "collectives-timeline",
            LEFT + WIDTH,
            TOP + HEIGHT + BELOW,
            "What the group did in the last intervals");
    drawing.label(LEFT - 6, TOP + 10, "end", "100 %");
    drawing.label(LEFT - 6, TOP + HEIGHT, "end", "0 %");
    drawing.label(LEFT, TOP + HEIGHT + 16, "start", Format.time(from));
    drawing.label(LEFT + WIDTH, TOP + HEIGHT + 16, "end", Format.time(to));
    double scale = (double) WIDTH / (to - from);
    for (Interval each : intervals) {
      bar(
          drawing,
          ranks,
          each,
          LEFT + (each.from() - from) * scale,
          (each.to() - each.from()) * scale);
    }
    drawing.end();
  }

  private static void bar(Drawing drawing, int ranks, Interval interval, double x, double width) {
    double waiting = interval.insideShare() * interval.waitingShare();
    double moving = interval.insideShare() - waiting;
    drawing.open(description(ranks, interval));
    double gap = width > 4 ? 1 : 0;
    double shown = Math.max(LEAST_BAR, width - gap);
    part(drawing, x, shown, 0, 1 - interval.insideShare(), Drawing.OUTSIDE);
    part(drawing, x, shown, 1 - interval.insideShare(), waiting, Drawing.WAITING);
    part(drawing, x, shown, 1 - moving, moving, Drawing.MOVING);
    drawing.close();
  }

  private static void part(
      Drawing drawing, double x, double width, double top, double share, String colour) {
    drawing.rectangle(x, TOP + top * HEIGHT, width, share * HEIGHT, colour);
  }

  private static String description(int ranks, Interval interval) {
    return Format.time(interval.from())
        + ", "
        + Format.millis(interval.to() - interval.from())
        + ": "
        + Format.count(Math.round((double) interval.operations() / Math.max(1, ranks)))
        + " operations on a rank, "
        + Format.bytes(interval.bytes())
        + ", "
        + Format.share(interval.insideShare())
        + " in collectives, "
        + Format.share(interval.waitingShare())
        + " of that waiting";
  }
}
