package org.sparkcollectives.examples.benchmark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spark.BarrierStage;
import org.sparkcollectives.spark.RankFunction;

/**
 * Ranks as the tasks of a barrier stage.
 *
 * @param master Spark's master; null for the one of spark-submit
 */
record SparkRanks(int size, GroupSettings settings, String master) implements Ranks {

  @Override
  public String description() {
    return "tasks of a Spark stage on " + conf().get("spark.master");
  }

  @Override
  public <T> void run(RankProgram<T> program, Consumer<T> results) {
    try (JavaSparkContext spark = start()) {
      run(spark, program, results);
    }
  }

  /** Returns the same with another number of tasks. */
  SparkRanks withSize(int tasks) {
    return new SparkRanks(tasks, settings, master);
  }

  /** Starts an application. */
  JavaSparkContext start() {
    return new JavaSparkContext(conf());
  }

  /** Runs a program in an application that is running. */
  <T> void run(JavaSparkContext spark, RankProgram<T> program, Consumer<T> results) {
    JavaRDD<Integer> ranks = spark.parallelize(Collections.nCopies(size, 0), size);
    BarrierStage.of(ranks)
        .withOptions(settings.options())
        .mapPartitions(new Rank<>(program))
        .collect()
        .forEach(results);
  }

  private SparkConf conf() {
    SparkConf conf = new SparkConf().setAppName("collectives-benchmark");
    if (master != null) {
      conf.setMaster(master);
    }
    settings.settings().forEach(conf::set);
    return conf.setIfMissing("spark.master", "local-cluster[2,2,1024]");
  }

  /** The function of each task; rank 0 returns the results. */
  private record Rank<T>(RankProgram<T> program) implements RankFunction<Integer, T> {

    @Override
    public Iterator<T> call(ProcessGroup world, Iterator<Integer> rows) {
      List<T> results = new ArrayList<>();
      program.run(world, results::add);
      return results.iterator();
    }
  }
}
