package org.sparkcollectives.examples.digits;

/**
 * Which file is read, and how.
 *
 * @param path where it is, for Spark
 * @param format what it is
 * @param labelColumn which column of a CSV file names the class; see {@link CsvFormat#of}
 * @param scaling what is done to the features
 */
record DatasetOptions(
    String path, LineFormat.Kind format, String labelColumn, FeatureScaling.Kind scaling) {}
