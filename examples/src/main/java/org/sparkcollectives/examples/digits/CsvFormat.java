package org.sparkcollectives.examples.digits;

import com.univocity.parsers.csv.CsvParser;
import com.univocity.parsers.csv.CsvParserSettings;
import java.util.Arrays;
import java.util.List;

/**
 * Numbers separated by commas, semicolons or tabs, and one column with the name of the class. A
 * first line with a feature that is not a number is a header, and so is each line that equals it.
 * Fields may be in quotes. Lines are read with the parser that Spark itself uses; a field does not
 * span lines.
 */
final class CsvFormat implements LineFormat {

  private static final long serialVersionUID = 1;

  private static final int MOST_COLUMNS = 1 << 20;

  private final String separator;
  private final int columns;
  private final int labelColumn;
  private final String header;

  /** Made in each task, by its only thread. */
  private transient CsvParser parser;

  private CsvFormat(String separator, int columns, int labelColumn, String header) {
    this.separator = separator;
    this.columns = columns;
    this.labelColumn = labelColumn;
    this.header = header;
  }

  /**
   * Returns the format of a file with this first line.
   *
   * @param label the column of the classes: its name in the header, or its number from 0, or from
   *     the end, where -1 is the last
   * @throws IllegalArgumentException if there is no such column
   */
  static CsvFormat of(String firstLine, String label) {
    String separator =
        List.of(",", ";", "\t").stream().filter(firstLine::contains).findFirst().orElse(",");
    String[] fields = parser(separator).parseLine(firstLine);
    if (fields.length < 2) {
      throw new IllegalArgumentException(
          "A line must hold features and a label, separated by commas, semicolons or tabs: "
              + LineFormat.shortened(firstLine));
    }
    int named = Arrays.asList(fields).indexOf(label);
    int column = named >= 0 && !isNumber(label) ? named : column(label, fields, firstLine);
    boolean isHeader = false;
    for (int i = 0; i < fields.length; i++) {
      isHeader |= i != column && !isNumber(fields[i]);
    }
    return new CsvFormat(separator, fields.length, column, isHeader ? firstLine : null);
  }

  private static int column(String label, String[] fields, String firstLine) {
    if (label.matches("-?\\d{1,9}")) {
      int number = Integer.parseInt(label);
      int column = number < 0 ? fields.length + number : number;
      if (column >= 0 && column < fields.length) {
        return column;
      }
    }
    throw new IllegalArgumentException(
        "There is no column "
            + label
            + " for the label among the "
            + fields.length
            + " of: "
            + LineFormat.shortened(firstLine));
  }

  private static boolean isNumber(String field) {
    try {
      return Double.isFinite(Double.parseDouble(field));
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static CsvParser parser(String separator) {
    CsvParserSettings settings = new CsvParserSettings();
    settings.getFormat().setDelimiter(separator);
    settings.getFormat().setComment('\0'); // None: a header may begin with a hash.
    settings.setNullValue("");
    settings.setEmptyValue("");
    settings.setMaxColumns(MOST_COLUMNS);
    settings.setMaxCharsPerColumn(-1);
    return new CsvParser(settings);
  }

  @Override
  public boolean isSample(String line) {
    return !line.isBlank() && !line.equals(header);
  }

  @Override
  public LabeledValues parse(String line) {
    if (parser == null) {
      parser = parser(separator);
    }
    String[] fields = parser.parseLine(line);
    if (fields.length != columns) {
      throw new IllegalArgumentException(
          "A line must hold "
              + columns
              + " fields, as the first does, but holds "
              + fields.length
              + ": "
              + LineFormat.shortened(line));
    }
    if (fields[labelColumn].isEmpty()) {
      throw new IllegalArgumentException("There is no label in: " + LineFormat.shortened(line));
    }
    double[] values = new double[columns - 1];
    for (int i = 0; i < values.length; i++) {
      values[i] = LineFormat.number(fields[i < labelColumn ? i : i + 1], line);
    }
    return new LabeledValues(fields[labelColumn], values);
  }
}
