package org.sparkcollectives.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.failure.RankIdentity;
import org.sparkcollectives.store.HashStore;

class LogContextTest {

  private final LogContext context =
      LogContext.of(new RankIdentity("app/world", 3, "host", "5", 7));

  private MDCAdapter before;

  /** Gives this test an MDC that keeps what it is given: slf4j-simple's does not. */
  @BeforeEach
  void keepKeys() throws ReflectiveOperationException {
    before = MDC.getMDCAdapter();
    use(new BasicMDCAdapter());
  }

  @AfterEach
  void restore() throws ReflectiveOperationException {
    use(before);
  }

  private static void use(MDCAdapter adapter) throws ReflectiveOperationException {
    Field field = MDC.class.getDeclaredField("mdcAdapter");
    field.setAccessible(true);
    field.set(null, adapter);
  }

  @Test
  void theKeysAreThereWhileTheBodyRunsAndGoneAfterwards() {
    Map<String, String> during = context.during("barrier #1").call(MDC::getCopyOfContextMap);
    assertThat(during)
        .containsEntry("collectives.group", "app/world")
        .containsEntry("collectives.rank", "3")
        .containsEntry("collectives.operation", "barrier #1");
    assertThat(MDC.get("collectives.group")).isNull();
    assertThat(MDC.get("collectives.rank")).isNull();
    assertThat(MDC.get("collectives.operation")).isNull();
  }

  @Test
  void whatTheThreadHadBeforeIsPutBackThoughTheBodyThrows() {
    MDC.put("collectives.rank", "mine");
    MDC.put("user", "ada");
    assertThatThrownBy(
            () ->
                context.run(
                    () -> {
                      assertThat(MDC.get("user")).isEqualTo("ada");
                      throw new IllegalStateException("on purpose");
                    }))
        .hasMessage("on purpose");
    assertThat(MDC.getCopyOfContextMap())
        .isEqualTo(Map.of("collectives.rank", "mine", "user", "ada"));
  }

  @Test
  void anInnerContextWithoutAnOperationKeepsThatOfTheOuter() {
    context
        .during("barrier #1")
        .run(
            () ->
                context.run(
                    () -> assertThat(MDC.get("collectives.operation")).isEqualTo("barrier #1")));
  }

  /** Transports and backends log in the rank's context while they are made. */
  @Test
  void aGroupIsMadeAndClosedInTheContextOfItsRank() {
    List<Map<String, String>> seen = new ArrayList<>();
    RankContext host =
        new HostedRank(List.of(), TransportSecurity.plain()) {
          @Override
          public void joined(String group, Failure ifLost) {
            seen.add(MDC.getCopyOfContextMap());
          }

          @Override
          public void left(String group) {
            seen.add(MDC.getCopyOfContextMap());
          }
        };
    try (HashStore store = new HashStore()) {
      HostedGroups.create(store, 0, 1, GroupOptions.defaults().withName("alone"), host).close();
    }
    Map<String, String> keys = Map.of("collectives.group", "alone", "collectives.rank", "0");
    assertThat(seen).containsExactly(keys, keys);
    assertThat(MDC.get("collectives.group")).isNull();
  }
}
