package org.sparkcollectives.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Modifier;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objenesis.strategy.StdInstantiatorStrategy;

/** Tests that an object comes back as it was, or is refused by the rank that writes it. */
class WholeStateTest {

  private final ObjectCodec codec = KryoObjectCodec.of(null);

  @Test
  void serializableClassesOfTheJdkKeepTheirState() {
    assertThat(ObjectCodecState.differences(codec, PlatformSamples.all())).isEmpty();
  }

  /**
   * Concrete classes of {@code java.base} without a sample. Java serialization refuses objects of
   * some, replaces those of others, and the rest are made by none of their users.
   */
  private static final Set<String> WITHOUT_SAMPLE =
      Set.of(
          "java.io.OptionalDataException",
          "java.lang.invoke.SerializedLambda",
          "java.lang.reflect.Proxy", // one is in StateSamples
          "java.security.CodeSigner",
          "java.security.KeyRep",
          "java.security.SignedObject",
          "java.security.Timestamp",
          "java.security.cert.CertificateRevokedException",
          "java.text.Format$Field",
          "java.util.IllegalFormatException",
          "java.util.InvalidPropertiesFormatException",
          "java.util.concurrent.StructuredTaskScope$FailedException", // preview in Java 25
          "java.util.concurrent.StructuredTaskScope$TimeoutException",
          "java.util.concurrent.locks.AbstractQueuedLongSynchronizer$ConditionObject",
          "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject");

  @Test
  void nearlyEachConcreteClassOfTheJdkHasASample() {
    Set<String> sampled =
        PlatformSamples.all().stream().map(ObjectSample::name).collect(Collectors.toSet());
    assertThat(PlatformSamples.classes())
        .filteredOn(type -> !Modifier.isAbstract(type.getModifiers()))
        .extracting(Class::getName)
        .filteredOn(name -> !sampled.contains(name))
        .isSubsetOf(WITHOUT_SAMPLE);
  }

  @Test
  void collectionsAndClassesOfUsersKeepTheirState() {
    assertThat(ObjectCodecState.differences(codec, StateSamples.all())).isEmpty();
  }

  /** A user's Kryo, with classes that it registers before it is used. */
  private static KryoObjectCodec registered(boolean required, Class<?>... classes) {
    return new KryoObjectCodec(
        () -> {
          Kryo kryo = new Kryo();
          kryo.setRegistrationRequired(required);
          for (Class<?> each : classes) {
            kryo.register(each);
          }
          return kryo;
        });
  }

  @Test
  void registeredClassesKeepTheirState() throws Exception {
    PriorityQueue<Integer> queue = new PriorityQueue<>((a, b) -> b - a);
    ObjectCodec strict =
        registered(true, PriorityQueue.class, LongAdderOrder.class, ArrayList.class);
    PriorityQueue<Integer> ordered = new PriorityQueue<>(new LongAdderOrder());
    ordered.addAll(List.of(1, 3, 2));
    assertThat(((PriorityQueue<?>) ObjectCodecState.copy(strict, ordered)).peek()).isEqualTo(3);
    assertThatThrownBy(() -> ObjectCodecState.copy(strict, queue))
        .hasMessageContaining("Class is not registered");
  }

  private static final class LongAdderOrder implements java.util.Comparator<Integer> {
    @Override
    public int compare(Integer a, Integer b) {
      return Integer.compare(b, a);
    }
  }

  @Test
  void registrationIsRequiredWithinJavasStreamsToo() throws Exception {
    CustomSamples.Celsius value = new CustomSamples.Celsius(20);
    ObjectCodec half = registered(true, CustomSamples.Celsius.class);
    assertThatThrownBy(() -> half.write(value, OutputStream.nullOutputStream()))
        .hasStackTraceContaining("Class is not registered")
        .hasStackTraceContaining("Tenths");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    registered(false, CustomSamples.Celsius.class).write(value, bytes);
    assertThatThrownBy(() -> half.read(new ByteArrayInputStream(bytes.toByteArray())))
        .hasStackTraceContaining("Class is not registered")
        .hasStackTraceContaining("Tenths");
  }

  @Test
  void aSerializerOfTheUsersIsKept() throws Exception {
    Serializer<LongAdder> users =
        new Serializer<>() {
          @Override
          public void write(Kryo kryo, Output output, LongAdder adder) {
            output.writeLong(adder.sum());
          }

          @Override
          public LongAdder read(Kryo kryo, Input input, Class<LongAdder> type) {
            LongAdder adder = new LongAdder();
            adder.add(input.readLong() + 100);
            return adder;
          }
        };
    KryoObjectCodec registered =
        new KryoObjectCodec(
            () -> {
              Kryo kryo = new Kryo();
              kryo.register(LongAdder.class, users, 5_000);
              return kryo;
            });
    KryoObjectCodec byDefault =
        new KryoObjectCodec(
            () -> {
              Kryo kryo = new Kryo();
              kryo.addDefaultSerializer(LongAdder.class, users);
              return kryo;
            });
    assertThat(ObjectCodecState.copy(registered, new LongAdder())).hasToString("100");
    assertThat(ObjectCodecState.copy(byDefault, new LongAdder())).hasToString("100");
  }

  /** A class with a transient field, which a user may want to send. */
  private static final class Scored {
    private int id = 1;
    private transient int score = 2;
  }

  @Test
  void settingsOfTheUsersAreKept() throws Exception {
    Scored scored = new Scored();
    scored.id = 8;
    scored.score = 9;
    KryoObjectCodec transients =
        new KryoObjectCodec(
            () -> {
              Kryo kryo = new Kryo();
              kryo.setDefaultSerializer(
                  (made, type) -> {
                    FieldSerializer<?> fields = new FieldSerializer<>(made, type);
                    fields.setSerializeTransient(true);
                    return fields;
                  });
              return kryo;
            });
    assertThat(((Scored) ObjectCodecState.copy(transients, scored)).score).isEqualTo(9);
    KryoObjectCodec removed =
        new KryoObjectCodec(
            () -> {
              Kryo kryo = new Kryo();
              FieldSerializer<Scored> fields = new FieldSerializer<>(kryo, Scored.class);
              fields.removeField("id");
              kryo.register(Scored.class, fields);
              return kryo;
            });
    assertThat(((Scored) ObjectCodecState.copy(removed, scored)).id).isEqualTo(1);
  }

  private static IntSupplier supplier(int captured) {
    return new IntSupplier() {
      @Override
      public int getAsInt() {
        return captured;
      }
    };
  }

  @Test
  void whatARegisteredClassCapturesComesAlong() throws Exception {
    IntSupplier local = supplier(5);
    KryoObjectCodec strict =
        new KryoObjectCodec(
            () -> {
              Kryo kryo = new Kryo();
              kryo.setInstantiatorStrategy(new StdInstantiatorStrategy());
              kryo.register(local.getClass());
              return kryo;
            });
    assertThat(((IntSupplier) ObjectCodecState.copy(strict, local)).getAsInt()).isEqualTo(5);
  }

  /** A list that is not serializable, and has a field. */
  private static final class Window extends AbstractList<Integer> {
    private final int from;

    Window(int from) {
      this.from = from;
    }

    @Override
    public Integer get(int index) {
      return from + index;
    }

    @Override
    public int size() {
      return 2;
    }
  }

  static List<Object> refused() {
    List<Integer> list = new ArrayList<>(List.of(1, 2, 3));
    return List.of(
        list.subList(0, 2),
        new HashMap<>(Map.of("a", 1)).keySet(),
        new HashMap<>(Map.of("a", 1)).values(),
        new TreeMap<>(Map.of("a", 1)).keySet(),
        new WeakHashMap<>(Map.of("a", 1)),
        list.iterator(),
        new Window(3),
        ThreadLocal.withInitial(() -> 1),
        new Thread());
  }

  @ParameterizedTest
  @MethodSource("refused")
  void whatCannotBeCarriedIsRefusedByTheWriter(Object object) {
    for (Object each : List.of(object, List.of(object), new HashSet<>(Set.of(List.of(object))))) {
      assertThatThrownBy(() -> codec.write(each, OutputStream.nullOutputStream()))
          .isInstanceOf(KryoException.class)
          .hasMessageContaining(object.getClass().getName() + " cannot be sent")
          .hasMessageMatching("(?s).*(Send|Let|register).*");
    }
  }

  @Test
  void anObjectThatRefersToItselfWhereItIsMadeAsAWholeIsRefused() {
    List<Object> inner = new ArrayList<>();
    List<Object> outer = List.of(inner);
    inner.add(outer);
    UserSamples.Bag<Object> bag = new UserSamples.Bag<>("of itself");
    bag.add(new Object[] {bag});
    for (Object each : List.of(outer, bag)) {
      assertThatThrownBy(() -> codec.write(each, OutputStream.nullOutputStream()))
          .isInstanceOf(KryoException.class)
          .hasMessageContaining("refers to itself");
    }
  }

  @Test
  void objectsInJavasStreamsAreOneWithThoseOutside() throws Exception {
    StringBuilder shared = new StringBuilder("shared");
    PriorityQueue<Object> queue = new PriorityQueue<>(List.of(shared));
    List<?> copy = (List<?>) ObjectCodecState.copy(codec, Arrays.asList(queue, shared, queue));
    assertThat(((PriorityQueue<?>) copy.get(0)).peek()).isSameAs(copy.get(1));
    assertThat(copy.get(0)).isSameAs(copy.get(2));
  }

  @Test
  void whatCannotBeReadNamesItsClass() throws IOException {
    enum Only {
      ONE
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new KryoObjectCodec(Kryo::new).write(new EnumMap<>(Map.of(Only.ONE, 1)), bytes);
    byte[] damaged = bytes.toByteArray();
    Arrays.fill(damaged, damaged.length - 20, damaged.length, (byte) 0x7F);
    assertThatThrownBy(() -> codec.read(new ByteArrayInputStream(damaged)))
        .isInstanceOf(KryoException.class)
        .hasMessageContaining("EnumMap");
  }
}
