package org.sparkcollectives.examples.digits;

/**
 * The file to read, and how to read it.
 *
 * @param path the path, for Spark
 * @param format the format of the file
 * @param labelColumn which column of a CSV file names the class; see {@link CsvFormat#of}
 * @param scaling the scaling of the features
 */
record DatasetOptions(
    String path, LineFormat.Kind format, String labelColumn, FeatureScaling.Kind scaling) {}
