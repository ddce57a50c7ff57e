package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.serializers.ClosureSerializer;
import java.util.Arrays;
import org.objenesis.strategy.StdInstantiatorStrategy;

/** A Kryo for plain JVMs, which takes nearly any class. */
final class PlainKryo extends Kryo {

  PlainKryo(ClassLoader loader) {
    setClassLoader(loader);
    setInstantiatorStrategy(new DefaultInstantiatorStrategy(new StdInstantiatorStrategy()));
    register(ClosureSerializer.Closure.class, new JavaStreamSerializer());
    addDefaultSerializer(Arrays.asList().getClass(), ImmutableSerializers.ofArraysAsLists());
    JavaTypes.addTo(this);
  }
}
