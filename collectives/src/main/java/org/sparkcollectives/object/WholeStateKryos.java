package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Registration;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import com.esotericsoftware.kryo.util.MapReferenceResolver;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.function.Supplier;

/**
 * Makes Kryos that carry objects with their {@linkplain WholeState whole state}, of any Kryos.
 *
 * <p>A Kryo is asked for its serializers by itself only, so one that is left as it is tells which
 * serializer the others would choose for a class that is not registered.
 */
final class WholeStateKryos implements Supplier<Kryo> {

  /** The highest id of a registration that is looked for, beyond those that are in a row. */
  private static final int LAST_ID = 1 << 14;

  private static final Method LAST = method();

  private final Supplier<Kryo> source;
  private Kryo usual;

  WholeStateKryos(Supplier<Kryo> source) {
    this.source = source;
  }

  @Override
  public Kryo get() {
    Kryo kryo = source.get();
    int registered = Math.max(kryo.getNextRegistrationId(), LAST_ID);
    for (int id = 0; id < registered; id++) {
      Registration each = kryo.getRegistration(id);
      if (each != null) {
        each.setSerializer(WholeState.serializer(kryo, each.getType(), each.getSerializer()));
      }
    }
    // After the user's own default serializers, and before Kryo's.
    kryo.addDefaultSerializer(
        Object.class, (made, type) -> WholeState.serializer(made, type, usual(made, type)));
    if (kryo.getReferences()
        && kryo.getReferenceResolver().getClass() == MapReferenceResolver.class) {
      kryo.setReferenceResolver(new StrictReferences());
    }
    return kryo;
  }

  /** Returns the serializer that a Kryo chooses for a class; null if it cannot make one. */
  private synchronized Serializer<?> usual(Kryo kryo, Class<?> type) {
    if (usual == null) {
      usual = source.get();
    }
    Serializer<?> serializer;
    try {
      serializer = usual.getDefaultSerializer(type);
    } catch (RuntimeException e) {
      if (Fields.areAllOf(type)) {
        throw e;
      }
      return null; // It has fields that Java's modules close to Kryo.
    }
    return serializer instanceof FieldSerializer ? last(kryo, type) : serializer;
  }

  /**
   * Returns the serializer that a Kryo makes for a class that it has no other for, with all that
   * the user has set. One that copies fields serves the Kryo that made it only.
   */
  private static Serializer<?> last(Kryo kryo, Class<?> type) {
    try {
      return (Serializer<?>) LAST.invoke(kryo, type);
    } catch (InvocationTargetException e) {
      throw new KryoException("No serializer could be made for " + type, e.getCause());
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns Kryo's method, which is for subclasses, such as Chill's. */
  private static Method method() {
    try {
      Method method = Kryo.class.getDeclaredMethod("newDefaultSerializer", Class.class);
      method.setAccessible(true);
      return method;
    } catch (NoSuchMethodException e) {
      throw new LinkageError("Kryo must be of a version 4", e);
    }
  }
}
