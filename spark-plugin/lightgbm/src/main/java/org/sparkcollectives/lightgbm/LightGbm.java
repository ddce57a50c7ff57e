package org.sparkcollectives.lightgbm;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.spark.TaskContext;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.lightgbm.internal.RankTraining;
import org.sparkcollectives.spark.BarrierStage;
import org.sparkcollectives.spark.RankFunction;

/**
 * Trains gradient boosted trees with LightGBM, whose library the user brings, over the collectives
 * of a group instead of LightGBM's own sockets: no ports, Spark's encryption, and a lost executor
 * ends the training with an error that names it.
 *
 * <p>LightGBM's learners {@code data} (the default) and {@code voting} divide the rows among the
 * ranks. Immutable.
 */
public final class LightGbm implements Serializable {

  private static final long serialVersionUID = 1;

  /** How often a job whose executor was lost is submitted again, as often as Spark does. */
  private static final int RESUBMISSIONS = 3;

  private final TreeMap<String, String> parameters;
  private final int rounds;
  private final int earlyStopping;
  private final String library;
  private final LightGbmColumns columns;

  private LightGbm(
      Map<String, String> parameters,
      int rounds,
      int earlyStopping,
      String library,
      LightGbmColumns columns) {
    this.parameters = new TreeMap<>(parameters);
    this.rounds = rounds;
    this.earlyStopping = earlyStopping;
    this.library = Objects.requireNonNull(library, "library");
    this.columns = Objects.requireNonNull(columns, "columns");
    training(1);
  }

  /**
   * Creates a training of 100 rounds.
   *
   * @param parameters LightGBM's own, such as {@code objective} and {@code num_leaves}
   * @throws IllegalArgumentException if they have one that the group decides, as {@code machines},
   *     or one of the methods below, as {@code num_iterations}, or another learner
   */
  public static LightGbm withParameters(Map<String, String> parameters) {
    return new LightGbm(parameters, 100, 0, "", LightGbmColumns.defaults());
  }

  /** Returns this training with another number of iterations. */
  public LightGbm withRounds(int rounds) {
    return new LightGbm(parameters, rounds, earlyStopping, library, columns);
  }

  /**
   * Returns this training with an end after {@code rounds} iterations without a better metric, the
   * first that the parameters name. All ranks decide alike, by the mean over the validation rows of
   * all ranks: the metric of all rows for means such as l2, rmse, logloss and error; the mean of
   * the ranks' own for those of an order, such as auc. The model ends with the best iteration.
   *
   * @param rounds 0, the default, for never
   */
  public LightGbm withEarlyStopping(int rounds) {
    return new LightGbm(parameters, this.rounds, rounds, library, columns);
  }

  /**
   * Returns this training with LightGBM's library at {@code path}, on every executor; LightGBM 3.3
   * or 4. By default it is taken from the jar {@code com.microsoft.ml.lightgbm:lightgbmlib}.
   */
  public LightGbm withLibrary(String path) {
    return new LightGbm(parameters, rounds, earlyStopping, path, columns);
  }

  /** Returns this training with other columns of the dataset. */
  public LightGbm withColumns(LightGbmColumns columns) {
    return new LightGbm(parameters, rounds, earlyStopping, library, columns);
  }

  /**
   * Trains in one barrier stage, with one rank for each partition of {@code dataset}. Blocks until
   * the job has ended. A job that fails because an executor was lost is submitted again, and trains
   * from the start.
   *
   * @throws IllegalStateException if the partitions are more than the slots, with the arithmetic
   */
  public LightGbmModel fit(Dataset<?> dataset) {
    Dataset<Row> rows =
        dataset.select(
            col(columns.features()),
            col(columns.label()).cast("double"),
            columns.weight().isEmpty() ? lit(1.0) : col(columns.weight()).cast("double"),
            columns.validation().isEmpty()
                ? lit(false)
                : col(columns.validation()).cast("boolean"));
    LightGbm training = this;
    RankFunction<Row, String> rank = (world, own) -> training.trainOn(world, own);
    List<String> models =
        BarrierStage.of(rows.toJavaRDD()).withResubmissions(RESUBMISSIONS).collect(rank);
    return new LightGbmModel(models.get(0), library);
  }

  private Iterator<String> trainOn(ProcessGroup world, Iterator<Row> rows) {
    TrainingRows train = null;
    TrainingRows validation = null;
    while (rows.hasNext()) {
      Row row = rows.next();
      Vector features = (Vector) row.get(0);
      if (train == null) {
        train = new TrainingRows(features.size());
        validation = new TrainingRows(features.size());
      }
      (row.getBoolean(3) ? validation : train)
          .add(features.toArray(), row.getDouble(1), row.getDouble(2));
    }
    TrainingRows none = new TrainingRows(1);
    String model =
        train(world, train == null ? none : train, validation == null ? none : validation);
    return (world.rank() == 0 ? List.of(model) : List.<String>of()).iterator();
  }

  /**
   * Trains as one rank of {@code group}, and returns the model's text, the same on all ranks. A
   * collective; for barrier stages of one's own. Everything of LightGBM happens on the calling
   * thread.
   *
   * @param rows this rank's, at least one
   * @param validation this rank's, for early stopping; may be empty
   * @throws IllegalArgumentException on all ranks, if one has no rows, or rows of one class only
   * @throws LightGbmException if LightGBM fails, or a collective of it
   */
  public String train(ProcessGroup group, TrainingRows rows, TrainingRows validation) {
    TaskContext task = TaskContext.get();
    return training(task == null ? 1 : task.cpus()).run(group, rows, validation);
  }

  private RankTraining training(int threads) {
    return new RankTraining(parameters, rounds, earlyStopping, library, threads);
  }
}
