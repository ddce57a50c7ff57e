package org.sparkcollectives.spark.internal.driver;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.sparkcollectives.spi.RankAnswer;
import org.sparkcollectives.spi.RankRequest;
import org.sparkcollectives.store.Store;

/** Sends requests of the driver to the ranks of all running barrier stages. */
public final class WorldRequests {

  private final DriverStore driver;
  private final Map<World, Integer> worlds;
  private final long end;

  /** Creates requests to the current ranks, which have {@code atMost} to respond. */
  private WorldRequests(DriverStore driver, Duration atMost) {
    this.driver = driver;
    this.worlds = driver.clients().worlds();
    this.end = System.nanoTime() + atMost.toNanos();
  }

  /**
   * Makes the ranks dump their flight recorders, and waits for the dumps.
   *
   * @return the folders of the dumps, one for each world
   */
  public static List<Path> dump(SparkEnv env, String reason, Duration atMost)
      throws InterruptedException {
    DriverStore driver = DriverStores.of(env);
    return driver == null ? List.of() : new WorldRequests(driver, atMost).dump(reason);
  }

  private List<Path> dump(String reason) throws InterruptedException {
    List<Path> folders = new ArrayList<>();
    for (Map.Entry<World, Long> each : make(RankRequest.Kind.DUMP, reason).entrySet()) {
      World world = each.getKey();
      String occasion = RankRequest.occasion(each.getValue());
      long left = end - System.nanoTime();
      folders.add(driver.dumps().await(world.stage(), occasion, worlds.get(world), left));
    }
    return folders;
  }

  /** Returns the answers of the ranks, world by world, in the order of the ranks. */
  public static List<RankAnswer> ask(SparkEnv env, RankRequest.Kind kind, Duration atMost) {
    DriverStore driver = DriverStores.of(env);
    return driver == null ? List.of() : new WorldRequests(driver, atMost).ask(kind);
  }

  private List<RankAnswer> ask(RankRequest.Kind kind) {
    List<RankAnswer> answers = new ArrayList<>();
    for (Map.Entry<World, Long> each : make(kind, "").entrySet()) {
      World world = each.getKey();
      Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
      answers.addAll(RankRequest.answers(store(world), each.getValue(), worlds.get(world), left));
    }
    return answers;
  }

  /** Sends all requests before it waits for any answer. */
  private Map<World, Long> make(RankRequest.Kind kind, String reason) {
    Map<World, Long> numbers = new LinkedHashMap<>();
    for (World world : worlds.keySet()) {
      numbers.put(world, RankRequest.make(store(world), kind, reason));
    }
    return numbers;
  }

  private Store store(World world) {
    return driver.clients().store(world.keyPrefix()).withPrefix(world.name());
  }
}
