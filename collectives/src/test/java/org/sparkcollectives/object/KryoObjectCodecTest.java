package org.sparkcollectives.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.esotericsoftware.kryo.Kryo;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Serializable;
import java.math.BigDecimal;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.RankThreads;

class KryoObjectCodecTest {

  private final KryoObjectCodec codec = KryoObjectCodec.of(getClass().getClassLoader());

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T> T copy(KryoObjectCodec codec, Object object) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    codec.write(object, bytes);
    return (T) codec.read(new ByteArrayInputStream(bytes.toByteArray()));
  }

  private record Point(int x, double y, String name, List<Integer> more) {}

  private record Positive(int value) {
    Positive {
      if (value <= 0) {
        throw new IllegalArgumentException("not positive: " + value);
      }
    }
  }

  private record Empty() {}

  private interface Shout extends Function<String, String>, Serializable {}

  /**
   * An object that is not serializable, has no constructor without parameters, and refers to
   * itself.
   */
  private static final class Node {
    private final String name;
    private final List<Node> neighbours = new ArrayList<>();

    Node(String name) {
      this.name = name;
    }
  }

  static Stream<Object> values() {
    EnumMap<TimeUnit, String> enumMap = new EnumMap<>(TimeUnit.class);
    enumMap.put(TimeUnit.DAYS, "long");
    return Stream.of(
        "text",
        42,
        4.5,
        'c',
        true,
        new BigDecimal("1.10"),
        UUID.fromString("00000000-0000-0001-0000-000000000002"),
        URI.create("spark://host:7077"),
        Instant.ofEpochSecond(1, 2),
        Optional.of("x"),
        TimeUnit.SECONDS,
        EnumSet.of(TimeUnit.DAYS, TimeUnit.HOURS),
        enumMap,
        List.of(),
        List.of(1),
        List.of(1, 2, 3),
        List.of(1, 2, 3, 4).subList(1, 3),
        Stream.of("a", null).toList(),
        Set.of(),
        Set.of("a"),
        Set.of("a", "b", "c"),
        Map.of(),
        Map.of("a", 1),
        Map.of("a", List.of(1), "b", List.of(2)),
        Arrays.asList(1, null),
        Collections.emptyList(),
        Collections.singletonMap("a", 1),
        Collections.unmodifiableList(new ArrayList<>(List.of(1, 2))),
        Collections.synchronizedMap(new HashMap<>(Map.of("a", 1))),
        new ArrayList<>(List.of("x", "y")),
        new LinkedHashMap<>(Map.of("k", Map.of("l", 1L))),
        new Point(1, 2.5, "p", List.of(3)),
        new Point(0, 0, null, null),
        new Empty());
  }

  @ParameterizedTest
  @MethodSource("values")
  void valuesComeBackEqual(Object value) throws Exception {
    assertThat(this.<Object>copyOf(value)).isEqualTo(value);
    assertThat(this.<Object>copyOf(List.of(value, value))).isEqualTo(List.of(value, value));
  }

  @SuppressWarnings("TypeParameterUnusedInFormals")
  private <T> T copyOf(Object object) throws Exception {
    return copy(codec, object);
  }

  @Test
  void nullArraysAndQueuesComeBack() throws Exception {
    assertThat(this.<Object>copyOf(null)).isNull();
    assertThat(this.<byte[]>copyOf(new byte[] {1, 2})).isEqualTo(new byte[] {1, 2});
    assertThat(this.<double[][]>copyOf(new double[][] {{1}, {}}))
        .isEqualTo(new double[][] {{1}, {}});
    assertThat(this.<Object[]>copyOf(new Object[] {"a", 1})).isEqualTo(new Object[] {"a", 1});
    assertThat(this.<ArrayDeque<Integer>>copyOf(new ArrayDeque<>(List.of(1, 2))))
        .containsExactly(1, 2);
    assertThat(this.<AtomicLong>copyOf(new AtomicLong(7))).hasValue(7);
  }

  @Test
  void sortedMapsKeepTheirOrder() throws Exception {
    TreeMap<String, Integer> map = new TreeMap<>(Comparator.reverseOrder());
    map.putAll(Map.of("a", 1, "b", 2));
    assertThat(this.<TreeMap<String, Integer>>copyOf(map).keySet()).containsExactly("b", "a");
  }

  @Test
  void lambdasComeBackWithWhatTheyCapture() throws Exception {
    String mark = "!";
    Shout shout = text -> text + mark;
    assertThat(this.<Shout>copyOf(shout).apply("hello")).isEqualTo("hello!");
    assertThat(this.<List<Shout>>copyOf(List.of(shout)).get(0).apply("hi")).isEqualTo("hi!");
  }

  @Test
  void lambdasThatAreNotSerializableAreRefused() {
    Runnable lambda = () -> {};
    assertThatThrownBy(() -> copyOf(lambda)).hasStackTraceContaining("NotSerializableException");
  }

  @Test
  void graphsKeepTheirShape() throws Exception {
    Node a = new Node("a");
    Node b = new Node("b");
    a.neighbours.add(b);
    b.neighbours.add(a);
    Node copy = copyOf(a);
    assertThat(copy.name).isEqualTo("a");
    assertThat(copy.neighbours.get(0).neighbours.get(0)).isSameAs(copy);
  }

  @Test
  void aRecordChecksWhatItReceives() throws Exception {
    Positive positive = new Positive(3);
    assertThat(this.<Positive>copyOf(positive)).isEqualTo(positive);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    codec.write(positive, bytes);
    byte[] forged = bytes.toByteArray();
    forged[forged.length - 1] = 1; // This is -1 as a zigzag varint.
    assertThatThrownBy(() -> codec.read(new ByteArrayInputStream(forged)))
        .hasRootCauseMessage("not positive: -1");
  }

  @Test
  void aCodecThatHasFailedGoesOn() throws Exception {
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> copyOf(List.of("x", new Thread())))
          .isInstanceOf(RuntimeException.class);
      assertThat(this.<Object>copyOf("text")).isEqualTo("text");
    }
  }

  @Test
  void registrationMayBeRequired() {
    KryoObjectCodec strict =
        new KryoObjectCodec(
            () -> {
              Kryo kryo = new Kryo();
              kryo.setRegistrationRequired(true);
              return kryo;
            });
    assertThatThrownBy(() -> copy(strict, new Node("a")))
        .hasMessageContaining("Class is not registered")
        .hasMessageContaining(Node.class.getName());
  }

  @Test
  void manyThreadsMayShareACodec() {
    RankThreads.run(
        8,
        thread -> {
          for (int i = 0; i < 200; i++) {
            Point point = new Point(thread, i, "p" + i, List.of(i));
            assertThat(this.<Point>copyOf(point)).isEqualTo(point);
          }
          return null;
        });
  }
}
