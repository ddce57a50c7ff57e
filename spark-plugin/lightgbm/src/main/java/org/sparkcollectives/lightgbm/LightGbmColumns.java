package org.sparkcollectives.lightgbm;

import java.io.Serializable;

/**
 * The names of the columns that a training reads.
 *
 * @param features a column of vectors
 * @param label a numeric column; classes are numbered from 0, and other labels of a classifier are
 *     refused
 * @param weight a numeric column, or empty if each row has the weight 1
 * @param validation a boolean column, or empty. Rows where it is true are not trained on; they are
 *     evaluated for early stopping. Null is false
 */
public record LightGbmColumns(String features, String label, String weight, String validation)
    implements Serializable {

  private static final long serialVersionUID = 1;

  /** Returns {@code features} and {@code label}, without weights and validation. */
  public static LightGbmColumns defaults() {
    return new LightGbmColumns("features", "label", "", "");
  }

  /** Returns these columns with another one for the features. */
  public LightGbmColumns withFeatures(String features) {
    return new LightGbmColumns(features, label, weight, validation);
  }

  /** Returns these columns with another one for the label. */
  public LightGbmColumns withLabel(String label) {
    return new LightGbmColumns(features, label, weight, validation);
  }

  /** Returns these columns with one for the weight. */
  public LightGbmColumns withWeight(String weight) {
    return new LightGbmColumns(features, label, weight, validation);
  }

  /** Returns these columns with one that marks the validation rows. */
  public LightGbmColumns withValidation(String validation) {
    return new LightGbmColumns(features, label, weight, validation);
  }
}
