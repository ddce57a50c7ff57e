package org.sparkcollectives.object;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.List;

/** Objects of users' classes that say themselves how they are serialized. */
final class CustomSamples {

  /** A class that writes what is transient itself. */
  static final class Cached implements Serializable {
    private static final long serialVersionUID = 1;
    private final int value;
    private transient List<Integer> doubled;

    Cached(int value) {
      this.value = value;
      doubled = List.of(2 * value);
    }

    private void writeObject(ObjectOutputStream stream) throws IOException {
      stream.defaultWriteObject();
      stream.writeInt(value);
    }

    private void readObject(ObjectInputStream stream) throws IOException, ClassNotFoundException {
      stream.defaultReadObject();
      doubled = List.of(2 * stream.readInt());
    }
  }

  /** A class that writes itself. */
  public static final class Packed implements Externalizable {
    private transient int value;

    /** Creates an object to read. */
    public Packed() {}

    @Override
    public void writeExternal(ObjectOutput out) throws IOException {
      out.writeInt(value);
    }

    @Override
    public void readExternal(ObjectInput in) throws IOException {
      value = in.readInt();
    }
  }

  /** A class of one instance. */
  static final class Only implements Serializable {
    private static final long serialVersionUID = 1;
    private static final Only INSTANCE = new Only();

    private Object readResolve() {
      return INSTANCE;
    }
  }

  /** A class that another one stands for in a stream. */
  static final class Celsius implements Serializable {
    private static final long serialVersionUID = 1;
    private final transient double degrees;

    Celsius(double degrees) {
      this.degrees = degrees;
    }

    private Object writeReplace() {
      return new Tenths((int) Math.round(degrees * 10));
    }
  }

  private record Tenths(int value) implements Serializable {
    private Object readResolve() {
      return new Celsius(value / 10.0);
    }
  }

  /** A record of one instance. */
  private record Unit(String name) implements Serializable {
    private static final Unit METER = new Unit("m");

    private Object readResolve() {
      return METER;
    }
  }

  private CustomSamples() {}

  static List<ObjectSample> all() {
    Packed packed = new Packed();
    packed.value = 5;
    return List.of(
        ObjectSample.of("a record of one instance", Unit.METER, copy -> isSame(copy, Unit.METER)),
        ObjectSample.of("a class that writes itself", new Cached(3), c -> c.value + "" + c.doubled),
        ObjectSample.of("an Externalizable", packed, copy -> copy.value),
        ObjectSample.of("a single instance", Only.INSTANCE, copy -> copy == Only.INSTANCE),
        ObjectSample.of("a class with a stand-in", new Celsius(21.5), copy -> copy.degrees));
  }

  private static boolean isSame(Object one, Object other) {
    return one == other;
  }
}
