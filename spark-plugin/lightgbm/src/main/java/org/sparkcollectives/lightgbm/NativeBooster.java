package org.sparkcollectives.lightgbm;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A Booster of LightGBM: an ensemble of trees that grows, or that predicts. Not thread-safe. */
final class NativeBooster implements AutoCloseable {

  private static final int VALIDATION = 1;
  private static final int ALL_ITERATIONS = -1;
  private static final int BY_SPLITS = 0;
  private static final int LONGEST_METRIC_NAME = 256;
  private static final int NORMAL_PREDICTION = 0;

  private final LightGbmLibrary library;
  private final Pointer handle;

  private NativeBooster(LightGbmLibrary library, Pointer handle) {
    this.library = library;
    this.handle = handle;
  }

  /** Creates a booster without trees that trains on {@code rows}. */
  static NativeBooster over(LightGbmLibrary library, NativeDataset rows, String parameters) {
    PointerByReference handle = new PointerByReference();
    library.check(library.functions().LGBM_BoosterCreate(rows.handle(), parameters, handle));
    return new NativeBooster(library, handle.getValue());
  }

  /**
   * Creates a booster that predicts, from a model's text.
   *
   * @param configured the path of LightGBM's library, empty for that of the jar
   */
  public static NativeBooster ofModel(String configured, String model) {
    LightGbmLibrary library = LightGbmLibrary.load(configured);
    PointerByReference handle = new PointerByReference();
    library.check(
        library.functions().LGBM_BoosterLoadModelFromString(model, new IntByReference(), handle));
    return new NativeBooster(library, handle.getValue());
  }

  void addValidation(NativeDataset rows) {
    library.check(library.functions().LGBM_BoosterAddValidData(handle, rows.handle()));
  }

  /** Grows the trees of one iteration; returns whether none could be grown any more. */
  boolean update() {
    IntByReference finished = new IntByReference();
    library.check(library.functions().LGBM_BoosterUpdateOneIter(handle, finished));
    return finished.getValue() != 0;
  }

  /** Returns the names of the metrics, in the order of {@link #evaluateValidation}. */
  List<String> metrics() {
    IntByReference count = new IntByReference();
    library.check(library.functions().LGBM_BoosterGetEvalCounts(handle, count));
    int metrics = count.getValue();
    List<String> names = new ArrayList<>();
    try (Memory text = new Memory((long) LONGEST_METRIC_NAME * Math.max(1, metrics))) {
      Pointer[] out = new Pointer[metrics];
      for (int i = 0; i < metrics; i++) {
        out[i] = text.share((long) LONGEST_METRIC_NAME * i);
      }
      library.check(
          library
              .functions()
              .LGBM_BoosterGetEvalNames(
                  handle, metrics, count, LONGEST_METRIC_NAME, new LongByReference(), out));
      for (Pointer name : out) {
        names.add(name.getString(0));
      }
    }
    return names;
  }

  /** Returns the metrics of this rank's validation rows. */
  double[] evaluateValidation(int metrics) {
    double[] values = new double[metrics];
    library.check(
        library.functions().LGBM_BoosterGetEval(handle, VALIDATION, new IntByReference(), values));
    return values;
  }

  /** Returns the model's text with its first {@code iterations}. */
  String text(int iterations) {
    LongByReference needed = new LongByReference();
    try (Memory first = new Memory(1 << 20)) {
      save(iterations, first, needed);
      if (needed.getValue() <= first.size()) {
        return first.getString(0, StandardCharsets.UTF_8.name());
      }
    }
    try (Memory large = new Memory(needed.getValue())) {
      save(iterations, large, needed);
      return large.getString(0, StandardCharsets.UTF_8.name());
    }
  }

  private void save(int iterations, Memory text, LongByReference needed) {
    library.check(
        library
            .functions()
            .LGBM_BoosterSaveModelToString(
                handle, 0, iterations, BY_SPLITS, text.size(), needed, text));
  }

  /** Returns how many numbers the prediction for a row has: 1, or one for each class. */
  public int outputs() {
    IntByReference classes = new IntByReference();
    library.check(library.functions().LGBM_BoosterGetNumClasses(handle, classes));
    return classes.getValue();
  }

  /** Returns how many features the model reads. */
  public int features() {
    IntByReference features = new IntByReference();
    library.check(library.functions().LGBM_BoosterGetNumFeature(handle, features));
    return features.getValue();
  }

  /**
   * Predicts for one row.
   *
   * @param out overwritten; of the length of {@link #outputs}
   */
  public void predict(double[] row, double[] out) {
    library.check(
        library
            .functions()
            .LGBM_BoosterPredictForMatSingleRow(
                handle,
                row,
                LightGbmFunctions.FLOAT64,
                row.length,
                1,
                NORMAL_PREDICTION,
                0,
                ALL_ITERATIONS,
                "num_threads=1",
                new LongByReference(),
                out));
  }

  @Override
  public void close() {
    library.functions().LGBM_BoosterFree(handle);
  }
}
