package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.serializers.ClosureSerializer;
import com.esotericsoftware.kryo.serializers.CollectionSerializer;
import com.esotericsoftware.kryo.serializers.JavaSerializer;
import com.esotericsoftware.kryo.serializers.MapSerializer;
import java.io.Serializable;
import java.util.Arrays;
import org.objenesis.strategy.StdInstantiatorStrategy;

/**
 * A Kryo for plain JVMs, which takes nearly any class and needs no opening of the JDK's modules.
 * Classes of the JDK whose fields it would have to access are left to Java serialisation, and so
 * are lambdas.
 */
final class PlainKryo extends Kryo {

  PlainKryo(ClassLoader loader) {
    setClassLoader(loader);
    setInstantiatorStrategy(new DefaultInstantiatorStrategy(new StdInstantiatorStrategy()));
    register(ClosureSerializer.Closure.class, new JavaSerializer());
    addDefaultSerializer(Arrays.asList().getClass(), ImmutableSerializers.ofArraysAsLists());
    JavaTypes.addTo(this);
  }

  @Override
  @SuppressWarnings("rawtypes")
  public Serializer getDefaultSerializer(Class type) {
    Serializer serializer = super.getDefaultSerializer(type);
    boolean fillsEmptyOne =
        serializer.getClass() == CollectionSerializer.class
            || serializer.getClass() == MapSerializer.class;
    return fillsEmptyOne && isJavasOwn(type) && !canBeMadeEmpty(type)
        ? new JavaSerializer()
        : serializer;
  }

  @Override
  @SuppressWarnings("rawtypes")
  protected Serializer newDefaultSerializer(Class type) {
    return isJavasOwn(type) ? new JavaSerializer() : super.newDefaultSerializer(type);
  }

  private static boolean isJavasOwn(Class<?> type) {
    return type.getModule().isNamed() && Serializable.class.isAssignableFrom(type);
  }

  private static boolean canBeMadeEmpty(Class<?> type) {
    return Arrays.stream(type.getConstructors()).anyMatch(each -> each.getParameterCount() == 0);
  }
}
