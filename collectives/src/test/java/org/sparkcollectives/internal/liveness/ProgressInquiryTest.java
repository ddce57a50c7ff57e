package org.sparkcollectives.internal.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.testing.StoreTraffic;

/** Tests what a rank learns from the others, and what that costs the store. */
class ProgressInquiryTest {

  private static final RankProgress JOINED = new RankProgress(5, 4, "barrier #5");
  private static final RankProgress LATE = new RankProgress(4, 4, "barrier #4");
  private static final ThreadStack STACK =
      new ThreadStack("thread \"main\" (RUNNABLE)\n\tat A.b()");

  private final HashStore store = new HashStore();
  private final StoreTraffic traffic = new StoreTraffic();
  private final List<ProgressInquiry> inquiries = new ArrayList<>();
  private ExecutorService executor;

  @BeforeEach
  void begin() {
    executor = Executors.newCachedThreadPool();
  }

  @AfterEach
  void end() {
    inquiries.forEach(ProgressInquiry::close);
    store.close();
    executor.shutdownNow();
  }

  private ProgressInquiry inquiry(int rank, int size, RankProgress progress) {
    return inquiry(traffic.count(store), rank, size, progress);
  }

  private ProgressInquiry inquiry(Store over, int rank, int size, RankProgress progress) {
    ProgressInquiry inquiry =
        new ProgressInquiry(
            over,
            Ranks.membership(rank, size),
            () -> STACK,
            new RankHost(RankContext.process(), executor));
    inquiry.open(() -> progress);
    inquiries.add(inquiry);
    return inquiry;
  }

  /** The answers of a group all ranks of which but the last have joined. */
  private static ProgressAnswers allButTheLast(int size) {
    List<RankProgress> progress = new ArrayList<>(Collections.nCopies(size, JOINED));
    progress.set(size - 1, LATE);
    return new ProgressAnswers(progress, Map.of(size - 1, STACK), "");
  }

  private void collected(int collector, byte[] answers) {
    store.set("progress/collector/0", String.valueOf(collector).getBytes(StandardCharsets.UTF_8));
    store.set("progress/collected/0", answers);
  }

  @Test
  void theFirstToAskPublishesWhatItHasCollected() {
    ProgressInquiry asking = inquiry(0, 3, JOINED);
    inquiry(1, 3, JOINED);
    inquiry(2, 3, LATE);
    ProgressAnswers answers = asking.ask(5);
    assertThat(answers.missing(5)).contains(2);
    assertThat(ProgressAnswers.decode(store.get("progress/collected/0"), 3)).isEqualTo(answers);
  }

  /** A view of the store that gives no values. */
  private static Store withoutValues(Store target) {
    return (Store)
        Proxy.newProxyInstance(
            ProgressInquiryTest.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("multiGet")) {
                throw new StoreConnectionException("no answer", null);
              }
              Object result = method.invoke(target, arguments);
              return result instanceof Store view ? withoutValues(view) : result;
            });
  }

  @Test
  void whoLearnsNothingPublishesNothing() {
    store.set("progress/answer/0/1", JOINED.encode());
    ProgressAnswers answers = inquiry(withoutValues(store), 0, 2, JOINED).ask(5);
    assertThat(answers.missing(5)).isEmpty();
    assertThat(answers.describe(List.of(), List.of())).contains("because no answer");
    assertThat(store.check(List.of("progress/collected/0"))).isFalse();
  }

  @Test
  void aRankThatAsksWithOthersReadsOneValueHoweverManyTheyAre() {
    for (int size : new int[] {3, 3_000}) {
      collected(0, allButTheLast(size).encode());
      long bytes = traffic.bytesReceived();
      long requests = traffic.requests();
      ProgressAnswers answers = inquiry(1, size, JOINED).ask(5);
      assertThat(answers).isEqualTo(allButTheLast(size));
      assertThat(traffic.bytesReceived() - bytes).as("%s ranks", size).isLessThan(1_000);
      assertThat(traffic.requests() - requests).as("%s ranks", size).isLessThan(10);
      store.listKeys().forEach(store::deleteKey);
    }
  }

  @Test
  void aRankCollectsByItselfIfTheCollectorIsLost() {
    store.set("progress/collector/0", "0".getBytes(StandardCharsets.UTF_8));
    store.set("progress/answer/0/0", JOINED.encode());
    store.set("progress/answer/0/2", LATE.encode());
    assertThat(inquiry(1, 3, JOINED).ask(5).progress()).containsExactly(JOINED, JOINED, LATE);
  }

  @Test
  void aRankCollectsByItselfIfWhatWasCollectedCannotBeRead() {
    byte[] encoded = allButTheLast(3).encode();
    collected(0, Arrays.copyOf(encoded, encoded.length - 1));
    store.set("progress/answer/0/0", JOINED.encode());
    store.set("progress/answer/0/2", LATE.encode());
    assertThat(inquiry(1, 3, JOINED).ask(5).progress()).containsExactly(JOINED, JOINED, LATE);
  }

  @Test
  void aRankKnowsItsOwnProgressWhateverWasCollected() {
    collected(0, new ProgressAnswers(Arrays.asList(JOINED, null, LATE), Map.of(), "").encode());
    assertThat(inquiry(1, 3, JOINED).ask(5).progress()).containsExactly(JOINED, JOINED, LATE);
  }
}
