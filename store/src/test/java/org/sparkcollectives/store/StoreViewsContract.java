package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.sparkcollectives.store.StoreUnderTest.bytes;
import static org.sparkcollectives.store.StoreUnderTest.timeoutOf;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract of views with a timeout or a prefix of their own. */
interface StoreViewsContract extends StoreUnderTest {

  @Test
  default void aViewHasItsOwnTimeoutAndClosingItDoesNothing() {
    Store view = store().withTimeout(SHORT);
    assertThat(view.timeout()).isEqualTo(SHORT);
    assertThat(store().timeout()).isNotEqualTo(SHORT);
    assertThat(view.withTimeout(Duration.ofDays(1)).timeout()).isEqualTo(Duration.ofDays(1));
    view.close();
    view.set("k", bytes("v"));
    assertThat(store().get("k")).asString().isEqualTo("v");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store().withTimeout(Duration.ofMillis(-1)));
  }

  @Test
  default void aPrefixIsASpaceOfItsOwn() {
    Store a = store().withPrefix("a");
    a.set("k", bytes("in a"));
    store().set("k", bytes("outside"));
    store().set("ab/k", bytes("a sibling"));
    a.queuePush("q", bytes(""));
    assertThat(a.numKeys()).isEqualTo(2);
    assertThat(a.listKeys()).containsExactlyInAnyOrder("k", "q");
    assertThat(other().get("a/k")).asString().isEqualTo("in a");
    assertThat(a.deleteKey("k")).isTrue();
    assertThat(a.deleteKeys(List.of("k", "q"))).isEqualTo(1);
    assertThat(store().get("k")).asString().isEqualTo("outside");
    a.close();
    assertThat(a.compareSet("k", bytes(""), bytes("again"))).asString().isEqualTo("again");
    assertThat(a.multiGet(List.of("k"))).hasSize(1);
  }

  @Test
  default void nestedPrefixesJoinFromTheOutside() {
    Store inner = store().withPrefix("b").withPrefix("a");
    inner.set("k", bytes("v"));
    assertThat(store().get("b/a/k")).asString().isEqualTo("v");
    assertThat(inner.listKeys()).containsExactly("k");
    assertThat(store().withPrefix("b").listKeys()).containsExactly("a/k");
  }

  @Test
  default void aPrefixViewTimesOutWithItsOwnKeys() {
    Store view = store().withPrefix("p").withTimeout(SHORT);
    StoreTimeoutException timeout = timeoutOf(() -> view.multiGet(List.of("x", "y")));
    assertThat(timeout.missingKeys()).containsExactly("x", "y");
    assertThat(timeout).hasMessageContaining("\"x\"").hasMessageNotContaining("p/");
    timeout = timeoutOf(() -> view.barrier("b", 2, SHORT));
    assertThat(timeout.missingKeys()).containsExactly("b");
  }
}
