package org.sparkcollectives.lightgbm;

import com.sun.jna.Callback;
import com.sun.jna.Library;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;

/**
 * The functions of LightGBM's C interface that training and prediction call. Their signatures are
 * the same in LightGBM 3.3.5 and 4.
 */
interface LightGbmFunctions extends Library {

  /** The type of {@code float} in calls that take one. */
  int FLOAT32 = 0;

  /** The type of {@code double} in calls that take one. */
  int FLOAT64 = 1;

  /** The type of {@code int32_t} in calls that take one. */
  int INT32 = 2;

  /** Reduces blocks of bytes over all ranks, and returns each rank its own. */
  interface ReduceScatter extends Callback {

    /**
     * Is called by LightGBM, on the thread that called it.
     *
     * @param start of each block in {@code input}, {@code int32_t}, in bytes
     * @param length of each block, {@code int32_t}, in bytes; may be 0
     * @param output where this rank's block goes
     * @param reducer the address of the address of a {@code void(const char* in, char* inout, int
     *     typeSize, int32_t bytes)}
     */
    void invoke(
        Pointer input,
        int inputSize,
        int typeSize,
        Pointer start,
        Pointer length,
        int blocks,
        Pointer output,
        int outputSize,
        Pointer reducer);
  }

  /** Gathers a block of bytes of each rank on all ranks. */
  interface AllGather extends Callback {

    /**
     * Is called by LightGBM, on the thread that called it.
     *
     * @param input this rank's block; may lie in {@code output}
     * @param start of each block in {@code output}, {@code int32_t}, in bytes
     * @param length of each block, {@code int32_t}, in bytes
     */
    void invoke(
        Pointer input,
        int inputSize,
        Pointer start,
        Pointer length,
        int blocks,
        Pointer output,
        int outputSize);
  }

  int LGBM_DumpParamAliases(long bytes, LongByReference needed, Pointer out);

  int LGBM_NetworkInitWithFunctions(
      int machines, int rank, ReduceScatter reduceScatter, AllGather allGather);

  int LGBM_NetworkFree();

  int LGBM_DatasetCreateFromMat(
      Pointer data,
      int type,
      int rows,
      int columns,
      int rowMajor,
      String parameters,
      Pointer reference,
      PointerByReference dataset);

  int LGBM_DatasetSetField(Pointer dataset, String field, Pointer data, int count, int type);

  int LGBM_DatasetFree(Pointer dataset);

  int LGBM_BoosterCreate(Pointer dataset, String parameters, PointerByReference booster);

  int LGBM_BoosterLoadModelFromString(
      String model, IntByReference iterations, PointerByReference booster);

  int LGBM_BoosterAddValidData(Pointer booster, Pointer dataset);

  int LGBM_BoosterUpdateOneIter(Pointer booster, IntByReference finished);

  int LGBM_BoosterGetEvalCounts(Pointer booster, IntByReference count);

  int LGBM_BoosterGetEvalNames(
      Pointer booster,
      int names,
      IntByReference count,
      long nameBytes,
      LongByReference neededBytes,
      Pointer[] out);

  int LGBM_BoosterGetEval(Pointer booster, int dataset, IntByReference count, double[] results);

  int LGBM_BoosterGetNumClasses(Pointer booster, IntByReference classes);

  int LGBM_BoosterGetNumFeature(Pointer booster, IntByReference features);

  int LGBM_BoosterSaveModelToString(
      Pointer booster,
      int startIteration,
      int iterations,
      int importance,
      long bytes,
      LongByReference needed,
      Pointer out);

  int LGBM_BoosterPredictForMatSingleRow(
      Pointer booster,
      double[] row,
      int type,
      int columns,
      int rowMajor,
      int kind,
      int startIteration,
      int iterations,
      String parameters,
      LongByReference count,
      double[] out);

  int LGBM_BoosterFree(Pointer booster);

  String LGBM_GetLastError();
}
