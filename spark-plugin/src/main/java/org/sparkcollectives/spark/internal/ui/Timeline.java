package org.sparkcollectives.spark.internal.ui;

import java.util.List;
import java.util.Locale;
import org.sparkcollectives.spark.internal.ui.GroupDetails.Interval;

/**
 * Draws what a group did in the last intervals, as SVG in the page: no script, nothing to download.
 * Each bar is one interval, and its parts are shares of its time.
 */
final class Timeline {

  private static final int HEIGHT = 120;
  private static final int WIDTH = 960;
  private static final int LEFT = 40;
  private static final int TOP = 8;
  private static final int BELOW = 24;
  private static final double LEAST_BAR = 1;

  private static final String WAITING = "#e0803c";
  private static final String MOVING = "#4a8fd0";
  private static final String OUTSIDE = "#c9ced4";

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
    legend(html, MOVING, "in collectives, at work");
    legend(html, WAITING, "in collectives, waiting for the last rank");
    legend(html, OUTSIDE, "outside of collectives");
    html.close("p");
    long from = intervals.get(0).from();
    long to = Math.max(from + 1, intervals.get(intervals.size() - 1).to());
    html.open(
        "svg",
        "class",
        "collectives-timeline",
        "width",
        Integer.toString(LEFT + WIDTH),
        "height",
        Integer.toString(TOP + HEIGHT + BELOW),
        "viewBox",
        "0 0 " + (LEFT + WIDTH) + " " + (TOP + HEIGHT + BELOW),
        "role",
        "img",
        "aria-label",
        "What the group did in the last intervals");
    label(html, LEFT - 6, TOP + 10, "end", "100 %");
    label(html, LEFT - 6, TOP + HEIGHT, "end", "0 %");
    label(html, LEFT, TOP + HEIGHT + 16, "start", Format.time(from));
    label(html, LEFT + WIDTH, TOP + HEIGHT + 16, "end", Format.time(to));
    double scale = (double) WIDTH / (to - from);
    for (Interval each : intervals) {
      bar(
          html,
          ranks,
          each,
          LEFT + (each.from() - from) * scale,
          (each.to() - each.from()) * scale);
    }
    html.close("svg");
  }

  private static void bar(Html html, int ranks, Interval interval, double x, double width) {
    double waiting = interval.insideShare() * interval.waitingShare();
    double moving = interval.insideShare() - waiting;
    html.open("g");
    html.element("title", description(ranks, interval));
    double gap = width > 4 ? 1 : 0;
    double shown = Math.max(LEAST_BAR, width - gap);
    part(html, x, shown, 0, 1 - interval.insideShare(), OUTSIDE);
    part(html, x, shown, 1 - interval.insideShare(), waiting, WAITING);
    part(html, x, shown, 1 - moving, moving, MOVING);
    html.close("g");
  }

  private static void part(
      Html html, double x, double width, double top, double share, String colour) {
    html.open(
        "rect",
        "x",
        number(x),
        "y",
        number(TOP + top * HEIGHT),
        "width",
        number(width),
        "height",
        number(share * HEIGHT),
        "fill",
        colour);
    html.close("rect");
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

  private static void label(Html html, int x, int y, String anchor, String text) {
    html.element(
        "text",
        text,
        "x",
        Integer.toString(x),
        "y",
        Integer.toString(y),
        "text-anchor",
        anchor,
        "font-size",
        "11",
        "fill",
        "currentColor");
  }

  private static void legend(Html html, String colour, String text) {
    html.open("svg", "width", "12", "height", "12", "aria-hidden", "true");
    html.open("rect", "width", "12", "height", "12", "fill", colour).close("rect").close("svg");
    html.text(" " + text + "   ");
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
