package org.sparkcollectives.examples.benchmark;

import java.util.function.Consumer;
import org.sparkcollectives.store.HashStore;

/** Ranks as threads of this JVM. */
record ThreadRanks(int size, GroupSettings settings) implements Ranks {

  @Override
  public String description() {
    return "threads of one JVM";
  }

  @Override
  public <T> void run(RankProgram<T> program, Consumer<T> results) throws Exception {
    try (HashStore store = new HashStore()) {
      new LocalRanks(store, 0, size, size, settings, () -> {}).run(program, results);
    }
  }
}
