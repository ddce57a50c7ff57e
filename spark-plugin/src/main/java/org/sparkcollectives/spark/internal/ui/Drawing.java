package org.sparkcollectives.spark.internal.ui;

import java.util.Locale;

/** Draws as SVG in a page: no script, nothing to download. */
final class Drawing {

  /** The colour of the time in which ranks exchanged data. */
  static final String MOVING = "#4a8fd0";

  /** The colour of the time in which ranks waited for the last one. */
  static final String WAITING = "#e0803c";

  /** The colour of the time outside of collectives. */
  static final String OUTSIDE = "#c9ced4";

  private final Html html;

  /**
   * Opens a drawing.
   *
   * @param what says what it shows, for those who do not see it
   */
  Drawing(Html html, String name, int width, int height, String what) {
    this.html = html;
    html.open(
        "svg",
        "class",
        name,
        "width",
        Integer.toString(width),
        "height",
        Integer.toString(height),
        "viewBox",
        "0 0 " + width + " " + height,
        "role",
        "img",
        "aria-label",
        what);
  }

  /** Adds the entry of a colour in a legend, outside of a drawing. */
  static void legend(Html html, String colour, String text) {
    html.open("svg", "width", "12", "height", "12", "aria-hidden", "true");
    html.open("rect", "width", "12", "height", "12", "fill", colour).close("rect").close("svg");
    html.text(" " + text + "   ");
  }

  /**
   * Opens a group of shapes.
   *
   * @param title is shown when the mouse is over one of them
   */
  void open(String title) {
    html.open("g");
    html.element("title", title);
  }

  /** Closes a group of shapes. */
  void close() {
    html.close("g");
  }

  void rectangle(double x, double y, double width, double height, String colour) {
    html.open(
        "rect",
        "x",
        number(x),
        "y",
        number(y),
        "width",
        number(width),
        "height",
        number(height),
        "fill",
        colour);
    html.close("rect");
  }

  /** Adds a text; the anchor is {@code start}, {@code middle} or {@code end}. */
  void label(double x, double y, String anchor, String text) {
    html.element(
        "text",
        text,
        "x",
        number(x),
        "y",
        number(y),
        "text-anchor",
        anchor,
        "font-size",
        "11",
        "fill",
        "currentColor");
  }

  void end() {
    html.close("svg");
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
