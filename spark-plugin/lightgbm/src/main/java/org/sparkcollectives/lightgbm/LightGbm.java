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
 * Trains a LightGBM model on the rows of a dataset, in one barrier stage. LightGBM's data exchange
 * runs over the collectives of a group instead of LightGBM's own sockets: no ports, Spark's
 * encryption, and an error that names the rank when one fails.
 *
 * <pre>{@code
 * LightGbmModel model =
 *     LightGbm.withParameters(Map.of("objective", "binary", "num_leaves", "31"))
 *         .withRounds(100)
 *         .withColumns(LightGbmColumns.defaults().withValidation("held_out"))
 *         .withEarlyStopping(5)
 *         .fit(rows); // columns "features", a vector, "label" and "held_out"
 * Dataset<Row> predicted = model.transform(rows, "features", "prediction");
 * }</pre>
 *
 * <p>The user brings LightGBM's library: the jar {@code com.microsoft.ml.lightgbm:lightgbmlib} on
 * the class path of the executors, or a file ({@link #withLibrary}). LightGBM's learners {@code
 * data} (the default) and {@code voting} divide the rows among the ranks.
 *
 * <p>Immutable: each {@code with} method returns another training.
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
   * @throws IllegalArgumentException if one of them is set by the group ({@code machines}) or by a
   *     method of this class ({@code num_iterations}, {@code early_stopping_round}), or if {@code
   *     tree_learner} is neither {@code data} nor {@code voting}
   */
  public static LightGbm withParameters(Map<String, String> parameters) {
    return new LightGbm(parameters, 100, 0, "", LightGbmColumns.defaults());
  }

  /** Returns this training with another number of iterations. */
  public LightGbm withRounds(int rounds) {
    return new LightGbm(parameters, rounds, earlyStopping, library, columns);
  }

  /**
   * Returns this training with early stopping: it ends when the metric of the validation rows has
   * not improved for {@code rounds} iterations. The model ends with the best iteration.
   *
   * <p>The metric is the first that the parameters name. Its value is the mean of the ranks'
   * values, weighted by their validation rows, so that all ranks decide alike. For l2, rmse,
   * logloss and error that is the metric of all rows; for auc and other metrics of an order it is
   * not.
   *
   * @param rounds 0, the default, for no early stopping
   */
  public LightGbm withEarlyStopping(int rounds) {
    return new LightGbm(parameters, this.rounds, rounds, library, columns);
  }

  /**
   * Returns this training with LightGBM's library at {@code path}, a {@code lib_lightgbm.so} of
   * LightGBM 3.3 or 4 that every executor has. By default it is taken from the jar {@code
   * com.microsoft.ml.lightgbm:lightgbmlib}.
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
   * the job has ended. A job that fails because an executor was lost is submitted again, at most
   * three times, and trains from the start.
   *
   * @throws IllegalStateException if there are more partitions than slots; the message counts both
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
   * Trains as one rank of {@code group}, in a barrier stage of your own, and returns the model's
   * text, the same on all ranks. A collective: all ranks call it. LightGBM's code runs on the
   * calling thread.
   *
   * @param rows the rows of this rank, at least one
   * @param validation the rows of this rank for early stopping; may be empty
   * @throws IllegalArgumentException on all ranks, if a rank has no rows, or a classifier's rank
   *     has rows of one class only
   * @throws LightGbmException if LightGBM fails, or a collective that it calls
   */
  public String train(ProcessGroup group, TrainingRows rows, TrainingRows validation) {
    TaskContext task = TaskContext.get();
    return training(task == null ? 1 : task.cpus()).run(group, rows, validation);
  }

  private RankTraining training(int threads) {
    return new RankTraining(parameters, rounds, earlyStopping, library, threads);
  }
}
