package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** Makes serializers for collections that have to be made with all their elements at once. */
final class ImmutableSerializers {

  private ImmutableSerializers() {}

  /**
   * Returns the serializer for the lists of {@link List#of} and {@link
   * java.util.stream.Stream#toList}.
   */
  static Serializer<?> ofUnmodifiableLists() {
    return new OfLists(elements -> Arrays.stream(elements).toList());
  }

  /** Returns the serializer for the lists of {@link Arrays#asList}, which have a fixed size. */
  static Serializer<?> ofArraysAsLists() {
    return new OfLists(Arrays::asList);
  }

  private static void writeAll(Kryo kryo, Output output, Collection<?> elements) {
    output.writeVarInt(elements.size(), true);
    StrictReferences.begin(kryo, elements);
    for (Object each : elements) {
      kryo.writeClassAndObject(output, each);
    }
    StrictReferences.end(kryo);
  }

  static Object[] readAll(Kryo kryo, Input input) {
    int size = input.readVarInt(true);
    Object[] elements = new Object[size];
    for (int i = 0; i < size; i++) {
      elements[i] = kryo.readClassAndObject(input);
    }
    return elements;
  }

  /** Serializes lists that {@code make} makes of their elements. */
  private static final class OfLists extends Serializer<List<?>> {

    private final Function<Object[], List<?>> make;

    private OfLists(Function<Object[], List<?>> make) {
      super(false, true);
      this.make = make;
    }

    @Override
    public void write(Kryo kryo, Output output, List<?> list) {
      writeAll(kryo, output, list);
    }

    @Override
    public List<?> read(Kryo kryo, Input input, Class<List<?>> type) {
      return make.apply(readAll(kryo, input));
    }
  }

  /** Serializes the sets of {@link Set#of}. */
  static final class OfSets extends Serializer<Set<?>> {

    OfSets() {
      super(false, true);
    }

    @Override
    public void write(Kryo kryo, Output output, Set<?> set) {
      writeAll(kryo, output, set);
    }

    @Override
    public Set<?> read(Kryo kryo, Input input, Class<Set<?>> type) {
      return Set.of(readAll(kryo, input));
    }
  }

  /** Serializes the maps of {@link Map#of}. */
  static final class OfMaps extends Serializer<Map<?, ?>> {

    OfMaps() {
      super(false, true);
    }

    @Override
    public void write(Kryo kryo, Output output, Map<?, ?> map) {
      output.writeVarInt(map.size(), true);
      StrictReferences.begin(kryo, map);
      for (Map.Entry<?, ?> each : map.entrySet()) {
        kryo.writeClassAndObject(output, each.getKey());
        kryo.writeClassAndObject(output, each.getValue());
      }
      StrictReferences.end(kryo);
    }

    @Override
    public Map<?, ?> read(Kryo kryo, Input input, Class<Map<?, ?>> type) {
      int size = input.readVarInt(true);
      Map.Entry<?, ?>[] entries = new Map.Entry<?, ?>[size];
      for (int i = 0; i < size; i++) {
        Object key = kryo.readClassAndObject(input);
        entries[i] = Map.entry(key, kryo.readClassAndObject(input));
      }
      return Map.ofEntries(entries);
    }
  }
}
