package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.serializers.MapSerializer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Makes serializers for classes of the JDK that are too common for Java serialization, or unknown
 * to it.
 */
final class PlatformSerializers {

  private PlatformSerializers() {}

  /** Returns the serializer for a class, or null if there is none. */
  static Serializer<?> of(Class<?> type) {
    if (type == LinkedHashMap.class) {
      return new OfLinkedHashMaps();
    }
    if (type == AtomicInteger.class) {
      return new OfValues<AtomicInteger>(
          (output, value) -> output.writeInt(value.get(), false),
          in -> new AtomicInteger(in.readInt(false)));
    }
    if (type == AtomicLong.class) {
      return new OfValues<AtomicLong>(
          (output, value) -> output.writeLong(value.get(), false),
          in -> new AtomicLong(in.readLong(false)));
    }
    if (type == AtomicBoolean.class) {
      return new OfValues<AtomicBoolean>(
          (output, value) -> output.writeBoolean(value.get()),
          in -> new AtomicBoolean(in.readBoolean()));
    }
    return ByteBuffer.class.isAssignableFrom(type) ? new OfByteBuffers() : null;
  }

  /** Serializes objects that are one value. */
  private static final class OfValues<T> extends Serializer<T> {
    private final BiConsumer<Output, T> writer;
    private final Function<Input, T> reader;

    OfValues(BiConsumer<Output, T> writer, Function<Input, T> reader) {
      this.writer = writer;
      this.reader = reader;
    }

    @Override
    public void write(Kryo kryo, Output output, T value) {
      writer.accept(output, value);
    }

    @Override
    public T read(Kryo kryo, Input input, Class<T> type) {
      return reader.apply(input);
    }
  }

  /** Serializes maps in the order of insertion or of access. */
  @SuppressWarnings("rawtypes")
  private static final class OfLinkedHashMaps extends MapSerializer {

    @Override
    public void write(Kryo kryo, Output output, Map map) {
      output.writeBoolean(isInAccessOrder(map));
      super.write(kryo, output, map);
    }

    /** Looks whether a copy is reordered when its first entry is read. Nothing else tells. */
    private static boolean isInAccessOrder(Map<?, ?> map) {
      @SuppressWarnings("unchecked")
      Map<Object, Object> copy = (Map<Object, Object>) ((LinkedHashMap<?, ?>) map).clone();
      while (copy.size() < 2) {
        copy.put(new Object(), null);
      }
      Object first = firstKey(copy);
      copy.get(first);
      return firstKey(copy) != first;
    }

    private static Object firstKey(Map<?, ?> map) {
      Iterator<?> keys = map.keySet().iterator();
      return keys.next();
    }

    @Override
    protected Map create(Kryo kryo, Input input, Class<Map> type) {
      return input.readBoolean() ? new LinkedHashMap<>(16, 0.75f, true) : new LinkedHashMap<>();
    }
  }

  /** Serializes buffers of bytes with all their bytes, wherever these are. */
  private static final class OfByteBuffers extends Serializer<ByteBuffer> {

    @Override
    public void write(Kryo kryo, Output output, ByteBuffer buffer) {
      ByteBuffer all = buffer.duplicate().clear();
      output.writeBoolean(buffer.isDirect());
      output.writeBoolean(buffer.isReadOnly());
      output.writeBoolean(buffer.order() == ByteOrder.BIG_ENDIAN);
      output.writeVarInt(buffer.position(), true);
      output.writeVarInt(buffer.limit(), true);
      output.writeVarInt(all.capacity(), true);
      byte[] part = new byte[Math.min(all.capacity(), 1 << 16)];
      while (all.hasRemaining()) {
        int length = Math.min(part.length, all.remaining());
        all.get(part, 0, length);
        output.writeBytes(part, 0, length);
      }
    }

    @Override
    public ByteBuffer read(Kryo kryo, Input input, Class<ByteBuffer> type) {
      boolean direct = input.readBoolean();
      boolean readOnly = input.readBoolean();
      ByteOrder order = input.readBoolean() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
      int position = input.readVarInt(true);
      int limit = input.readVarInt(true);
      byte[] bytes = input.readBytes(input.readVarInt(true));
      ByteBuffer buffer =
          direct
              ? ByteBuffer.allocateDirect(bytes.length).put(bytes).clear()
              : ByteBuffer.wrap(bytes);
      ByteBuffer made = readOnly ? buffer.asReadOnlyBuffer() : buffer;
      return made.order(order).limit(limit).position(position);
    }
  }
}
