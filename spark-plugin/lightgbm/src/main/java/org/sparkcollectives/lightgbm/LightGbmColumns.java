package org.sparkcollectives.lightgbm;

import java.io.Serializable;

/**
 * The columns of a dataset.
 *
 * @param features a vector
 * @param label a number; for classes from 0 on
 * @param weight a number, or empty for 1
 * @param validation a boolean that is true for rows that are not trained on but decide when to
 *     stop; or empty
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

  /** Returns these columns with one that tells the validation rows. */
  public LightGbmColumns withValidation(String validation) {
    return new LightGbmColumns(features, label, weight, validation);
  }
}
