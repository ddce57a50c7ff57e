package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.util.MapReferenceResolver;
import java.util.ArrayList;
import java.util.List;

/**
 * References within an object that are either right or an error. Kryo reads null for a reference to
 * an object that is not made yet, which happens where an object is made with all that it holds at
 * once and one of these refers to it.
 */
final class StrictReferences extends MapReferenceResolver {

  private final List<Object> unmade = new ArrayList<>();
  private Class<?> lastRead;

  /**
   * Begins to write what an object is made of; nothing in it may refer to the object until {@link
   * #end}.
   */
  static void begin(Kryo kryo, Object object) {
    if (kryo.getReferenceResolver() instanceof StrictReferences references) {
      references.unmade.add(object);
    }
  }

  /** Ends what the last {@link #begin} began. */
  static void end(Kryo kryo) {
    if (kryo.getReferenceResolver() instanceof StrictReferences references) {
      references.unmade.remove(references.unmade.size() - 1);
    }
  }

  /** Prepares for {@link #lastRead} in the object that is read next. */
  static void beginReading(Kryo kryo) {
    if (kryo.getReferenceResolver() instanceof StrictReferences references) {
      references.lastRead = null;
    }
  }

  @Override
  public int getWrittenId(Object object) {
    int id = super.getWrittenId(object);
    if (id != -1 && !unmade.isEmpty() && isUnmade(object)) {
      throw new KryoException(
          object.getClass().getName()
              + " refers to itself through what it holds, and is read as a whole. Send it without"
              + " that reference");
    }
    return id;
  }

  private boolean isUnmade(Object object) {
    for (Object each : unmade) {
      if (each == object) {
        return true;
      }
    }
    return false;
  }

  @Override
  @SuppressWarnings("rawtypes")
  public int nextReadId(Class type) {
    lastRead = type;
    return super.nextReadId(type);
  }

  @Override
  @SuppressWarnings("rawtypes")
  public Object getReadObject(Class type, int id) {
    Object object = super.getReadObject(type, id);
    if (object == null) {
      throw new KryoException(
          "An object of class "
              + type.getName()
              + " refers to itself through what it holds, and is read as a whole");
    }
    return object;
  }

  /** Returns the class of the object that was begun to be read last; null if none was. */
  Class<?> lastRead() {
    return lastRead;
  }

  @Override
  public void reset() {
    super.reset();
    unmade.clear();
  }
}
