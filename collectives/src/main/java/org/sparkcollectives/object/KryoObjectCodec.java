package org.sparkcollectives.object;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

/**
 * Writes and reads objects with Kryo.
 *
 * <p>A {@link Kryo} serves one object at a time, so there are as many as there are objects under
 * way at once. They are kept for later objects, because they know many classes by then.
 *
 * <p>Unless they require classes to be registered, a rank can make any class of another rank's
 * class path be instantiated: ranks of a group trust each other.
 */
public final class KryoObjectCodec implements ObjectCodec {

  private static final int BUFFER_BYTES = 32 << 10;

  private final WholeStateKryos source;
  private final Queue<Serializer> idle = new ConcurrentLinkedQueue<>();

  /** A Kryo and its buffers. */
  private static final class Serializer {
    private final Kryo kryo;
    private final Output output = new Output(BUFFER_BYTES);
    private final Input input = new Input(BUFFER_BYTES);

    Serializer(Kryo kryo) {
      this.kryo = kryo;
    }
  }

  /**
   * Creates a codec with the user's own Kryos. They should know {@link JavaTypes}. What they would
   * do to objects is kept, as far as it carries their {@linkplain WholeState whole state}.
   *
   * @param source makes a new one with each call, always with the same registrations, on all ranks
   */
  public KryoObjectCodec(Supplier<Kryo> source) {
    this.source = new WholeStateKryos(source);
  }

  /**
   * Returns a codec for plain JVMs: no class needs to be registered, to be {@link
   * java.io.Serializable}, or to have a constructor without parameters.
   *
   * @param loader finds the classes of what is read; null for the one of this class
   */
  public static KryoObjectCodec of(ClassLoader loader) {
    ClassLoader known = loader == null ? KryoObjectCodec.class.getClassLoader() : loader;
    return new KryoObjectCodec(() -> new PlainKryo(known));
  }

  @Override
  public void write(Object object, OutputStream stream) {
    Serializer serializer = acquire();
    serializer.output.setOutputStream(stream);
    serializer.kryo.writeClassAndObject(serializer.output, object);
    serializer.output.flush();
    release(serializer);
  }

  /**
   * {@inheritDoc}
   *
   * @throws KryoException with the class at which reading has failed
   */
  @Override
  public Object read(InputStream stream) {
    Serializer serializer = acquire();
    serializer.input.setInputStream(stream);
    StrictReferences.beginReading(serializer.kryo);
    Object object;
    try {
      object = serializer.kryo.readClassAndObject(serializer.input);
    } catch (RuntimeException e) {
      throw naming(serializer.kryo, e);
    }
    release(serializer);
    return object;
  }

  /** Adds the class that was being read, which an exception may not name. */
  private static RuntimeException naming(Kryo kryo, RuntimeException thrown) {
    return kryo.getReferenceResolver() instanceof StrictReferences references
            && references.lastRead() != null
        ? new KryoException(
            "Reading failed in or after an object of class "
                + references.lastRead().getName()
                + ": "
                + thrown.getMessage(),
            thrown)
        : thrown;
  }

  private Serializer acquire() {
    Serializer serializer = idle.poll();
    return serializer == null ? new Serializer(source.get()) : serializer;
  }

  /**
   * Keeps a serializer for the next object. Not called for one that has thrown, because its state
   * is unknown.
   */
  private void release(Serializer serializer) {
    serializer.output.setOutputStream(null);
    serializer.input.setInputStream(null);
    idle.add(serializer);
  }
}
