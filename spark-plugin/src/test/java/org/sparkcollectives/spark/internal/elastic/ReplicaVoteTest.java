package org.sparkcollectives.spark.internal.elastic;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.store.HashStore;

class ReplicaVoteTest {

  @Test
  void theProgramsCollectivesKeepTheTimeoutOfTheGroup() {
    GroupOptions options = GroupOptions.defaults().withTimeout(Duration.ofSeconds(7));
    try (HashStore store = new HashStore();
        ProcessGroup ranks = ProcessGroups.create(store, 0, 1, options)) {
      ReplicaVote vote = ReplicaVote.of(ranks);
      assertThat(vote.vote(true, true, false)).isEqualTo(new ReplicaVote.Result(true, true, false));
      assertThat(vote.group().timeout()).isEqualTo(Duration.ofSeconds(7));
    }
  }
}
