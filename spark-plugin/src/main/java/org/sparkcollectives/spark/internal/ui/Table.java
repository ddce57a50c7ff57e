package org.sparkcollectives.spark.internal.ui;

import java.math.BigDecimal;
import java.util.function.Consumer;

/** Writes a table in the style of Spark's pages, which Spark's own script makes sortable. */
final class Table {

  private final Html html;

  /** Opens a table. */
  Table(Html html, String id) {
    this.html = html;
    html.open("table", "id", id, "class", "table table-bordered table-sm table-striped sortable");
    html.open("thead").open("tr");
  }

  /**
   * Adds a column.
   *
   * @param meaning what it means, shown when the mouse is over it
   */
  Table column(String name, String meaning) {
    html.element("th", name, "title", meaning);
    return this;
  }

  /** Ends the columns; rows follow. */
  Table rows() {
    html.close("tr").close("thead").open("tbody");
    return this;
  }

  Table beginRow() {
    html.open("tr");
    return this;
  }

  Table endRow() {
    html.close("tr");
    return this;
  }

  Table cell(String text) {
    html.element("td", text);
    return this;
  }

  /** Adds a cell that is sorted by {@code value}. */
  Table cell(double value, String text) {
    html.element("td", text, "sorttable_customkey", key(value));
    return this;
  }

  /** Returns a number without an exponent, of which Spark's script knows nothing. */
  private static String key(double value) {
    return Double.isFinite(value)
        ? BigDecimal.valueOf(value).stripTrailingZeros().toPlainString()
        : "0";
  }

  /** Adds a cell that is sorted by {@code value}. */
  Table cell(long value, String text) {
    html.element("td", text, "sorttable_customkey", Long.toString(value));
    return this;
  }

  Table cell(long value) {
    return cell(value, Format.count(value));
  }

  /** Adds a cell with more than a text. */
  Table cell(Consumer<Html> content) {
    html.open("td");
    content.accept(html);
    html.close("td");
    return this;
  }

  void end() {
    html.close("tbody").close("table");
  }
}
