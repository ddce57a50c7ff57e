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
 * @param compare whether to measure also the operations that Spark has without ranks
 */
record SparkRanks(int size, GroupSettings settings, String master, boolean compare)
    implements Ranks {

  @Override
  public String description() {
    return "tasks of a Spark stage on " + conf().get("spark.master");
  }

  @Override
  public void run(Plan plan, Consumer<Measurement> results) {
    try (JavaSparkContext spark = new JavaSparkContext(conf())) {
      run(spark, plan, results);
    }
  }

  /** Measures in an application that is running. */
  void run(JavaSparkContext spark, Plan plan, Consumer<Measurement> results) {
    JavaRDD<Integer> ranks = spark.parallelize(Collections.nCopies(size, 0), size);
    BarrierStage.of(ranks)
        .withOptions(settings.options())
        .mapPartitions(new Rank(plan))
        .collect()
        .forEach(results);
    if (compare) {
      new SparkBaseline(spark, plan, size).run(results);
    }
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
  private record Rank(Plan plan) implements RankFunction<Integer, Measurement> {

    @Override
    public Iterator<Measurement> call(ProcessGroup world, Iterator<Integer> rows) {
      List<Measurement> results = new ArrayList<>();
      new RankBenchmark(world, plan).run(results::add);
      return results.iterator();
    }
  }
}
