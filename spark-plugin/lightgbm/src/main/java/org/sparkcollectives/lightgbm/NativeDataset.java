package org.sparkcollectives.lightgbm;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;

/** A Dataset of LightGBM: binned rows in native memory. */
final class NativeDataset implements AutoCloseable {

  private static final int ROW_MAJOR = 1;

  private final LightGbmLibrary library;
  private final Pointer handle;

  private NativeDataset(LightGbmLibrary library, Pointer handle) {
    this.library = library;
    this.handle = handle;
  }

  /**
   * Bins rows.
   *
   * @param reference whose bins are taken; null to find bins in these rows
   */
  static NativeDataset of(
      LightGbmLibrary library, TrainingRows rows, String parameters, NativeDataset reference) {
    int values = rows.size() * rows.columns();
    NativeDataset dataset;
    try (Memory features = new Memory(Math.max(1L, values) * Double.BYTES)) {
      features.write(0, rows.features(), 0, values);
      dataset = ofFeatures(library, features, rows.size(), rows.columns(), parameters, reference);
    }
    try {
      dataset.set("label", rows.labels(), rows.size());
      if (rows.isWeighted()) {
        dataset.set("weight", rows.weights(), rows.size());
      }
      return dataset;
    } catch (RuntimeException e) {
      dataset.close();
      throw e;
    }
  }

  /** Bins features alone: {@code double}s, row by row. */
  static NativeDataset ofFeatures(
      LightGbmLibrary library,
      Memory features,
      int rows,
      int columns,
      String parameters,
      NativeDataset reference) {
    PointerByReference handle = new PointerByReference();
    library.check(
        library
            .functions()
            .LGBM_DatasetCreateFromMat(
                features,
                LightGbmFunctions.FLOAT64,
                rows,
                columns,
                ROW_MAJOR,
                parameters,
                reference == null ? null : reference.handle,
                handle));
    return new NativeDataset(library, handle.getValue());
  }

  private void set(String field, float[] values, int count) {
    try (Memory copy = new Memory(Math.max(Float.BYTES, (long) Float.BYTES * count))) {
      copy.write(0, values, 0, count);
      library.check(
          library
              .functions()
              .LGBM_DatasetSetField(handle, field, copy, count, LightGbmFunctions.FLOAT32));
    }
  }

  Pointer handle() {
    return handle;
  }

  @Override
  public void close() {
    library.functions().LGBM_DatasetFree(handle);
  }
}
