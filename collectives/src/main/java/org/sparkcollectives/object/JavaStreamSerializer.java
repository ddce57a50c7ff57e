package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;
import java.io.Serializable;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Serializes an object by Java serialization, and what it refers to by Kryo. So an element of such
 * a collection need not be {@link Serializable}, is one object with the same element elsewhere, and
 * must be registered where registration is required.
 *
 * <p>Format: the objects that it refers to, each by Kryo, then a stream of Java's in which each is
 * a {@link Reference} to one of them.
 */
final class JavaStreamSerializer extends Serializer<Object> {

  /**
   * An object that Kryo writes.
   *
   * @param index among these objects
   */
  private record Reference(int index) implements Serializable {}

  /** Values, and parts of exceptions, which are never shared: these stay in the stream. */
  private static final Set<Class<?>> LEAVES =
      Set.of(
          String.class,
          Integer.class,
          Long.class,
          Double.class,
          Float.class,
          Short.class,
          Byte.class,
          Character.class,
          Boolean.class,
          Class.class,
          StackTraceElement.class,
          StackTraceElement[].class);

  JavaStreamSerializer() {
    super(false, false);
  }

  @Override
  public void write(Kryo kryo, Output output, Object object) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    List<Object> others;
    try (Writer writer = new Writer(bytes, kryo, object)) {
      writer.writeObject(object);
      others = writer.others;
    } catch (IOException e) {
      throw new KryoException(object.getClass().getName() + " cannot be written", e);
    }
    output.writeVarInt(others.size(), true);
    StrictReferences.begin(kryo, object);
    for (Object each : others) {
      kryo.writeClassAndObject(output, each);
    }
    StrictReferences.end(kryo);
    output.writeVarInt(bytes.size(), true);
    output.writeBytes(bytes.toByteArray());
  }

  @Override
  public Object read(Kryo kryo, Input input, Class<Object> type) {
    Object[] others = ImmutableSerializers.readAll(kryo, input);
    byte[] bytes = input.readBytes(input.readVarInt(true));
    try (Reader reader = new Reader(new ByteArrayInputStream(bytes), kryo, type, others)) {
      return reader.readObject();
    } catch (IOException | ClassNotFoundException e) {
      throw new KryoException("An object of " + type + " cannot be read", e);
    }
  }

  /** Refuses a class in a stream for an object of another class, as Kryo refuses it elsewhere. */
  private static void requireRegistered(Kryo kryo, Class<?> named, Class<?> type) {
    Class<?> each = named;
    while (each.isArray()) {
      each = each.getComponentType();
    }
    if (kryo.isRegistrationRequired()
        && each != Reference.class
        && !each.isAssignableFrom(type)
        && !JavaSerialization.isPlatforms(each)) {
      kryo.getRegistration(each);
    }
  }

  /** Writes the first object, and replaces those that it refers to. */
  private static final class Writer extends ObjectOutputStream {
    private final Kryo kryo;
    private final Class<?> type;
    private final List<Object> others = new ArrayList<>();
    private boolean first = true;

    Writer(OutputStream stream, Kryo kryo, Object object) throws IOException {
      super(stream);
      this.kryo = kryo;
      this.type = object.getClass();
      enableReplaceObject(true);
    }

    @Override
    protected Object replaceObject(Object object) {
      if (first || staysHere(object.getClass())) {
        first = false;
        return object;
      }
      others.add(object);
      return new Reference(others.size() - 1);
    }

    /**
     * Stand-ins stay too: Java has put them in the place of objects of the JDK. So do locks,
     * because a queue's conditions must be those of its lock, where Kryo does not track references
     * as well.
     */
    private static boolean staysHere(Class<?> type) {
      return LEAVES.contains(type)
          || type.getPackageName().equals("java.util.concurrent.locks")
          || JavaSerialization.isStandIn(type);
    }

    @Override
    protected void annotateClass(Class<?> named) {
      requireRegistered(kryo, named, type);
    }
  }

  /** Reads what {@link Writer} writes. */
  private static final class Reader extends ObjectInputStream {
    private final Kryo kryo;
    private final Class<?> type;
    private final Object[] others;

    Reader(InputStream stream, Kryo kryo, Class<?> type, Object[] others) throws IOException {
      super(stream);
      this.kryo = kryo;
      this.type = type;
      this.others = others;
      enableResolveObject(true);
    }

    @Override
    protected Object resolveObject(Object object) {
      return object instanceof Reference reference ? others[reference.index()] : object;
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass described)
        throws IOException, ClassNotFoundException {
      Class<?> named = find(described);
      requireRegistered(kryo, named, type);
      return named;
    }

    private Class<?> find(ObjectStreamClass described) throws IOException, ClassNotFoundException {
      if (described.getName().equals(Reference.class.getName())) {
        return Reference.class;
      }
      try {
        return Class.forName(described.getName(), false, kryo.getClassLoader());
      } catch (ClassNotFoundException e) {
        return super.resolveClass(described); // It is a primitive type, or is missing.
      }
    }

    @Override
    @SuppressWarnings("deprecation") // Only the JDK can make such a class without an instance.
    protected Class<?> resolveProxyClass(String[] names) throws ClassNotFoundException {
      Class<?>[] interfaces = new Class<?>[names.length];
      for (int i = 0; i < names.length; i++) {
        interfaces[i] = Class.forName(names[i], false, kryo.getClassLoader());
        requireRegistered(kryo, interfaces[i], type);
      }
      return Proxy.getProxyClass(kryo.getClassLoader(), interfaces);
    }
  }
}
