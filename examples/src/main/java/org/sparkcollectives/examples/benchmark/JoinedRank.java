package org.sparkcollectives.examples.benchmark;

import java.util.function.Consumer;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Rendezvous;

/** One rank, whose others are processes that somebody else has started. */
record JoinedRank(ProcessGroup group) implements Ranks {

  /** Joins the others. Blocks until all are there. */
  static JoinedRank join(String url, GroupSettings settings) {
    settings.settings().forEach(System::setProperty);
    return new JoinedRank(Rendezvous.join(url, settings.options()));
  }

  @Override
  public String description() {
    return "processes that have joined each other";
  }

  @Override
  public int size() {
    return group.size();
  }

  @Override
  public <T> void run(RankProgram<T> program, Consumer<T> results) {
    try (group) {
      try {
        program.run(group, results);
        group.barrier().await();
      } catch (RuntimeException | Error e) {
        group.abort(e);
        throw e;
      }
    }
  }
}
