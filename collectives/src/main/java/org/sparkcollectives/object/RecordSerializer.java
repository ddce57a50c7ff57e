package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;

/**
 * Serializes a record as its components, which its canonical constructor gets back, so that a
 * record may refuse what it receives. A record that refers to itself, through others, is refused.
 */
final class RecordSerializer extends Serializer<Record> {

  private final Method[] accessors;
  private final Constructor<?> constructor;

  /** Creates a serializer for one class of records. */
  RecordSerializer(Class<?> type) {
    super(false, true);
    RecordComponent[] components = type.getRecordComponents();
    accessors = new Method[components.length];
    for (int i = 0; i < components.length; i++) {
      accessors[i] = components[i].getAccessor();
      accessors[i].setAccessible(true);
    }
    Class<?>[] types =
        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      constructor = type.getDeclaredConstructor(types);
    } catch (NoSuchMethodException e) {
      throw new AssertionError("Every record has a canonical constructor", e);
    }
    constructor.setAccessible(true);
  }

  @Override
  public void write(Kryo kryo, Output output, Record value) {
    StrictReferences.begin(kryo, value);
    for (Method each : accessors) {
      kryo.writeClassAndObject(output, component(each, value));
    }
    StrictReferences.end(kryo);
  }

  private static Object component(Method accessor, Record value) {
    try {
      return accessor.invoke(value);
    } catch (InvocationTargetException e) {
      throw new KryoException("Cannot read " + accessor, e.getCause());
    } catch (IllegalAccessException e) {
      throw new KryoException("Cannot call " + accessor, e);
    }
  }

  @Override
  public Record read(Kryo kryo, Input input, Class<Record> type) {
    Object[] values = new Object[accessors.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = kryo.readClassAndObject(input);
    }
    try {
      return (Record) constructor.newInstance(values);
    } catch (InvocationTargetException e) {
      throw new KryoException(constructor + " refuses what was received", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new KryoException("Cannot call " + constructor, e);
    }
  }
}
