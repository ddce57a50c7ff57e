package org.sparkcollectives.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.sparkcollectives.spi.failure.RankIdentity;

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
}
