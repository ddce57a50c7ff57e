package org.sparkcollectives.spark.internal.elastic;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** A part of the state that two functions of the program save as an array of bytes, and load. */
final class SavedBytes implements StatePart {

  private final String name;
  private final Supplier<byte[]> save;
  private final Consumer<byte[]> load;
  private byte[] room;

  SavedBytes(String name, Supplier<byte[]> save, Consumer<byte[]> load) {
    this.name = name;
    this.save = save;
    this.load = load;
  }

  @Override
  public List<HostTensor> save() {
    byte[] saved = save.get();
    if (saved == null) {
      throw new IllegalStateException("The function that saves state \"" + name + "\" gave null");
    }
    return List.of(HostTensor.wrap(DType.UINT8, saved));
  }

  @Override
  public List<HostTensor> room(long[] sizes) {
    room = new byte[Math.toIntExact(sizes[0])];
    return List.of(HostTensor.wrap(DType.UINT8, room));
  }

  @Override
  public void load() {
    byte[] bytes = room;
    room = null;
    load.accept(bytes);
  }
}
