package org.sparkcollectives.spark.internal.ui;

/** Writes HTML. All texts and values of attributes are escaped; only names of tags are not. */
final class Html {

  private final StringBuilder html = new StringBuilder();

  /**
   * Opens an element.
   *
   * @param attributes names and values in turn; one whose value is null is left out
   */
  Html open(String tag, String... attributes) {
    html.append('<').append(tag);
    for (int i = 0; i < attributes.length; i += 2) {
      if (attributes[i + 1] != null) {
        html.append(' ').append(attributes[i]).append("=\"");
        html.append(escape(attributes[i + 1])).append('"');
      }
    }
    html.append('>');
    return this;
  }

  /** Closes an element. */
  Html close(String tag) {
    html.append("</").append(tag).append('>');
    return this;
  }

  /** Adds a text. */
  Html text(String text) {
    html.append(escape(text));
    return this;
  }

  /** Adds an element with a text. */
  Html element(String tag, String text, String... attributes) {
    return open(tag, attributes).text(text).close(tag);
  }

  /** Adds a link, whose address is relative to the page: so it holds behind any proxy. */
  Html link(String address, String text) {
    return element("a", text, "href", address);
  }

  /** Returns {@code text} as it stands in HTML, in an element or in an attribute. */
  static String escape(String text) {
    StringBuilder escaped = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      switch (each) {
        case '&' -> escaped.append("&amp;");
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '"' -> escaped.append("&quot;");
        case '\'' -> escaped.append("&#39;");
        default -> escaped.append(each);
      }
    }
    return escaped.toString();
  }

  @Override
  public String toString() {
    return html.toString();
  }
}
