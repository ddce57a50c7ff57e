package org.sparkcollectives.ml.internal.gradient;

import java.io.Serializable;
import java.util.List;
import java.util.Optional;
import org.sparkcollectives.ml.internal.optim.Objective;
import org.sparkcollectives.ml.internal.rows.Labels;
import org.sparkcollectives.ml.internal.rows.Statistics;

/** The minimisation that an estimator asks for; it depends on the statistics of the rows. */
public interface Problem extends Serializable {

  /** Returns the meaning of the labels. */
  Labels labels();

  /**
   * Returns the function to be minimised; empty where Spark's own fit does not iterate either: it
   * throws, or knows the model already, as for labels that are all the same. All ranks get the same
   * answer.
   */
  Optional<Objective> objective(Statistics statistics);

  /** Returns what Spark's own estimator says in the log of rows like these, where it iterates. */
  default List<String> warnings(Statistics statistics) {
    return List.of();
  }
}
