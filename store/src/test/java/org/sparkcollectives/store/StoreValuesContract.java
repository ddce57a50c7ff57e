package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.sparkcollectives.store.StoreUnderTest.bytes;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The contract of values: reading, waiting, counting, comparing, many at once. */
interface StoreValuesContract extends StoreUnderTest {

  @Test
  default void aValueIsReadAsItWasSet() {
    store().set("k", bytes("one"));
    assertThat(other().get("k")).asString().isEqualTo("one");
    store().set("k", bytes("two"));
    assertThat(other().get("k")).asString().isEqualTo("two");
  }

  @Test
  default void aTextIsStoredInUtf8() {
    store().set("k", "größer");
    assertThat(other().get("k")).isEqualTo("größer".getBytes(UTF_8));
    store().withPrefix("p").set("k", "v");
    assertThat(other().get("p/k")).asString().isEqualTo("v");
  }

  @Test
  default void anEmptyValueIsAValue() {
    store().set("k", new byte[0]);
    assertThat(store().get("k")).isEmpty();
    assertThat(store().check(List.of("k"))).isTrue();
  }

  @Test
  default void valuesAreCopiedInAndOut() {
    byte[] value = bytes("abc");
    store().set("k", value);
    value[0] = 'x';
    byte[] first = store().get("k");
    assertThat(first).asString().isEqualTo("abc");
    first[0] = 'y';
    assertThat(store().get("k")).asString().isEqualTo("abc");
  }

  @Test
  default void aValueOfSeveralMegabytesArrivesWhole() {
    byte[] value = new byte[5 << 20];
    new Random(42).nextBytes(value);
    store().set("large", value);
    assertThat(Arrays.equals(other().get("large"), value)).isTrue();
    store().queuePush("queue", value);
    assertThat(Arrays.equals(other().queuePop("queue", true), value)).isTrue();
  }

  @Test
  default void checkIsTrueOnlyIfAllKeysExist() {
    store().set("a", bytes(""));
    assertThat(store().check(List.of())).isTrue();
    assertThat(store().check(List.of("a"))).isTrue();
    assertThat(store().check(List.of("a", "b"))).isFalse();
  }

  @Test
  default void deleteTellsWhetherTheKeyExisted() {
    store().set("k", bytes(""));
    assertThat(store().deleteKey("k")).isTrue();
    assertThat(store().deleteKey("k")).isFalse();
    assertThat(store().check(List.of("k"))).isFalse();
  }

  @Test
  default void keysAreDeletedInOneRequest() {
    store().set("a", bytes(""));
    store().queuePush("q", bytes(""));
    store().set("kept", bytes(""));
    long before = store().statistics().of("deleteKey").count();
    assertThat(store().deleteKeys(List.of("a", "missing", "q", "a"))).isEqualTo(2);
    assertThat(store().statistics().of("deleteKey").count()).isEqualTo(before + 1);
    assertThat(store().listKeys()).containsExactly("kept");
    assertThat(store().deleteKeys(List.of())).isZero();
  }

  @Test
  default void keysAreCountedAndListedExactly() {
    assertThat(store().numKeys()).isZero();
    assertThat(store().listKeys()).isEmpty();
    store().set("a", bytes(""));
    store().add("b", 1);
    store().queuePush("c", bytes(""));
    assertThat(store().numKeys()).isEqualTo(3);
    assertThat(store().listKeys()).containsExactlyInAnyOrder("a", "b", "c");
  }

  @Test
  default void addCountsInDecimalText() {
    assertThat(store().add("n", 5)).isEqualTo(5);
    assertThat(store().add("n", -7)).isEqualTo(-2);
    assertThat(store().get("n")).asString().isEqualTo("-2");
    store().set("m", bytes("41"));
    assertThat(store().add("m", 1)).isEqualTo(42);
    assertThat(store().add("edge", Long.MIN_VALUE)).isEqualTo(Long.MIN_VALUE);
    assertThat(store().add("edge", 0)).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  default void addRefusesWhatIsNotADecimalNumber() {
    for (String text : List.of("12abc", "", "-", "+1", " 1", "0x10", "9223372036854775808", "٣")) {
      store().set("n", bytes(text));
      assertThatThrownBy(() -> store().add("n", 1))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("n\"")
          .hasMessageContaining("decimal");
      assertThat(store().get("n")).asString().isEqualTo(text);
    }
  }

  @Test
  default void addRefusesToOverflow() {
    store().add("n", Long.MAX_VALUE);
    assertThatThrownBy(() -> store().add("n", 1))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("64 bits");
    assertThat(store().add("n", 0)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  default void compareSetOnAMissingKeyCreatesItOnlyWhenNothingIsExpected() {
    assertThat(store().compareSet("k", bytes("old"), bytes("new"))).asString().isEqualTo("old");
    assertThat(store().check(List.of("k"))).isFalse();
    assertThat(store().compareSet("k", bytes(""), bytes("new"))).asString().isEqualTo("new");
    assertThat(store().get("k")).asString().isEqualTo("new");
  }

  @Test
  default void compareSetReplacesOnlyTheExpectedValue() {
    store().set("k", bytes("a"));
    assertThat(store().compareSet("k", bytes("b"), bytes("c"))).asString().isEqualTo("a");
    assertThat(store().compareSet("k", bytes(""), bytes("c"))).asString().isEqualTo("a");
    assertThat(store().compareSet("k", bytes("a"), bytes(""))).asString().isEmpty();
    assertThat(store().compareSet("k", bytes(""), bytes("z"))).asString().isEqualTo("z");
    assertThat(store().get("k")).asString().isEqualTo("z");
  }

  @Test
  default void appendCreatesAndExtends() {
    store().append("k", bytes("ab"));
    store().append("k", bytes(""));
    store().append("k", bytes("cd"));
    assertThat(store().get("k")).asString().isEqualTo("abcd");
  }

  @Test
  default void multiSetStoresAllOrNothing() {
    store().multiSet(List.of("a", "b"), List.of(bytes("1"), bytes("2")));
    assertThat(store().get("b")).asString().isEqualTo("2");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store().multiSet(List.of("c", "d"), List.of(bytes(""))))
        .withMessageContaining("2 keys and 1 values");
    store().queuePush("q", bytes(""));
    assertThatThrownBy(() -> store().multiSet(List.of("c", "q"), List.of(bytes(""), bytes(""))))
        .isInstanceOf(StoreException.class);
    assertThat(store().check(List.of("c"))).isFalse();
  }

  @Test
  default void keysMayHoldAnyCharacterButNotBeEndless() {
    for (String key : List.of("", " ", "ключ", "鍵", "😀", "a\u0000b", "/", "é".repeat(1000))) {
      store().set(key, bytes(key));
      assertThat(other().get(key)).asString().isEqualTo(key);
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store().set("x".repeat((1 << 16) + 1), bytes("")))
        .withMessageContaining("65536");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store().set("\ud83d", bytes("")))
        .withMessageContaining("surrogate");
  }

  @Test
  default void nullsAreRefused() {
    assertThatThrownBy(() -> store().set(null, bytes(""))).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> store().set("k", (byte[]) null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> store().waitFor(List.of("k"), null))
        .isInstanceOf(NullPointerException.class);
  }

  @Test
  default void concurrentAddsAllCount() throws Exception {
    threads()
        .runTogether(
            8,
            index -> {
              Store mine = index % 2 == 0 ? store() : other();
              for (int i = 0; i < 200; i++) {
                mine.add("n", 1);
              }
              return null;
            });
    assertThat(store().add("n", 0)).isEqualTo(1600);
  }

  @Test
  default void oneOfManyWinsACompareSet() throws Exception {
    for (int round = 0; round < 30; round++) {
      String key = "leader" + round;
      List<String> seen =
          threads()
              .runTogether(
                  6,
                  index ->
                      new String(
                          (index % 2 == 0 ? store() : other())
                              .compareSet(key, new byte[0], bytes("rank " + index)),
                          UTF_8));
      assertThat(seen).allMatch(seen.get(0)::equals);
    }
  }

  @Test
  default void manyMayReadALargeValueAtOnce() throws Exception {
    byte[] large = new byte[4 << 20];
    new Random(1).nextBytes(large);
    other().set("large", large);
    List<byte[]> read = threads().runTogether(8, each -> store().get("large"));
    assertThat(read).hasSize(8).allMatch(value -> Arrays.equals(value, large));
  }
}
