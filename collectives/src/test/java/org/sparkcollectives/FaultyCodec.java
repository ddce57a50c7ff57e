package org.sparkcollectives;

import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;
import org.sparkcollectives.object.KryoObjectCodec;
import org.sparkcollectives.object.ObjectCodec;
import org.sparkcollectives.spi.RankContext;

/**
 * A codec that throws for one object, after some bytes.
 *
 * @param writes whether it throws when it writes, else when it reads
 * @param fault makes what it throws; null for a rank whose codec does not
 */
record FaultyCodec(boolean writes, int after, Supplier<Throwable> fault) implements ObjectCodec {

  /** The object for which it throws. */
  static final String FAULTY = "faulty";

  private static final ObjectCodec SOUND = KryoObjectCodec.of(FaultyCodec.class.getClassLoader());

  @Override
  public void write(Object object, OutputStream stream) throws Exception {
    stream.write(new byte[after]);
    if (fault != null && writes && object.equals(FAULTY)) {
      raise();
    }
    SOUND.write(object, stream);
  }

  @Override
  public Object read(InputStream stream) throws Exception {
    stream.skipNBytes(after);
    Object object = SOUND.read(stream);
    if (fault != null && !writes && object.equals(FAULTY)) {
      raise();
    }
    return object;
  }

  private void raise() throws Exception {
    Throwable thrown = fault.get();
    if (thrown instanceof Error error) {
      throw error;
    }
    throw (Exception) thrown;
  }

  /** Returns what hosts a rank, with a codec in place of its own. */
  static RankContext host(RankContext host, ObjectCodec codec) {
    return (RankContext)
        Proxy.newProxyInstance(
            RankContext.class.getClassLoader(),
            new Class<?>[] {RankContext.class},
            (proxy, method, arguments) ->
                method.getName().equals("objectCodec") ? codec : method.invoke(host, arguments));
  }
}
