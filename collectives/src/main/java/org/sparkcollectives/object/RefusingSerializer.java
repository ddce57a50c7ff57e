package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.Collection;
import java.util.Map;

/** Refuses objects of a class whose state cannot be carried, and says what to do. */
final class RefusingSerializer extends Serializer<Object> {

  private final String message;

  RefusingSerializer(Class<?> type) {
    message = message(type);
  }

  private static String message(Class<?> type) {
    String name = type.getName();
    if (!JavaSerialization.isPlatforms(type)) {
      return name
          + " cannot be sent, because what it inherits has state that would not come along. Let it"
          + " implement java.io.Serializable, hold a collection in place of extending one, or"
          + " register a serializer for it";
    }
    String advice =
        Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type)
            ? "Send a copy of it, such as a new ArrayList, HashSet or HashMap"
            : "Send what it is made of, or register a serializer for it";
    return name
        + " cannot be sent, because it is a class of the JDK that is not java.io.Serializable. "
        + advice;
  }

  @Override
  public void write(Kryo kryo, Output output, Object object) {
    throw new KryoException(message);
  }

  @Override
  public Object read(Kryo kryo, Input input, Class<Object> type) {
    throw new KryoException(message);
  }
}
