package org.sparkcollectives.lightgbm;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spark.BarrierRows;
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
   * @param parameters LightGBM's own, such as {@code objective} and {@code num_leaves}. One that
   *     LightGBM does not know is refused by the ranks, which have the library
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
   * LightGBM 3.3.5 or 4 that every executor has. By default it is taken from the jar {@code
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
   * <p>The rows are repartitioned first where the partitions cannot be ranks, see {@link
   * BarrierRows}; and where a partition has no rows to train on, or those of one class only. There
   * are then fewer ranks if there are fewer such rows.
   *
   * @throws IllegalArgumentException if {@code dataset} has no rows to train on, or a classifier's
   *     are of one class
   */
  public LightGbmModel fit(Dataset<?> dataset) {
    DatasetRows rows = new DatasetRows(columns);
    String model =
        BarrierRows.run("LightGBM", rows.of(dataset).toJavaRDD(), each -> trainOn(rows, each));
    return new LightGbmModel(model, library);
  }

  private String trainOn(DatasetRows rows, JavaRDD<Row> partitions) {
    List<String> models = stage(rows, partitions, true);
    if (models.isEmpty()) {
      boolean classes = training(1).classifies();
      models =
          stage(rows, DealtRows.of(partitions, row -> rows.kind(row, classes), classes), false);
    }
    return models.get(0);
  }

  /**
   * Returns the model, of rank 0.
   *
   * @param mayBeDealt whether the ranks return nothing if they could train if the rows lay
   *     otherwise
   */
  private List<String> stage(DatasetRows rows, JavaRDD<Row> partitions, boolean mayBeDealt) {
    LightGbm training = this;
    RankFunction<Row, String> rank =
        (world, own) -> training.trainOn(world, rows, own, mayBeDealt).iterator();
    return BarrierStage.of(partitions).withResubmissions(RESUBMISSIONS).collect(rank);
  }

  private List<String> trainOn(
      ProcessGroup world, DatasetRows rows, Iterator<Row> own, boolean mayBeDealt) {
    RankTraining training = training(TaskContext.get().cpus()).withOwnNames();
    DatasetRows.Read read = rows.read(own);
    RankRows ranks = training.gather(world, read.train(), read.validation());
    if (mayBeDealt && ranks.obstacle().isPresent()) {
      return List.of();
    }
    String model = training.run(world, read.train(), read.validation(), ranks);
    return world.rank() == 0 ? List.of(model) : List.of();
  }

  /**
   * Trains as one rank of {@code group}, in a barrier stage of your own, and returns the model's
   * text, the same on all ranks. A collective: all ranks call it. LightGBM's code runs on the
   * calling thread.
   *
   * @param rows the rows of this rank, at least one
   * @param validation the rows of this rank for early stopping; may be empty
   * @throws IllegalArgumentException on all ranks, if a rank has no rows, a classifier's rank has
   *     rows of one class only or labels that are no classes, or LightGBM does not know a parameter
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
