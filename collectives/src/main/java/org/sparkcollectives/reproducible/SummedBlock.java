package org.sparkcollectives.reproducible;

import java.util.Arrays;

/** The sums of some neighbouring elements: of finite numbers in bins, and of all others. */
final class SummedBlock {

  private final BinnedBlock finite;

  /** The sums of NaNs and infinities, 0 elsewhere; null if there are none. */
  private double[] others;

  SummedBlock(int length) {
    finite = new BinnedBlock(length);
  }

  int length() {
    return finite.length();
  }

  BinnedBlock finite() {
    return finite;
  }

  /** Returns the sums of NaNs and infinities, 0 where there are none; null if nowhere. */
  double[] others() {
    return others;
  }

  /** Adds the first elements of {@code numbers}, and may change them. */
  void add(double[] numbers) {
    if (!allFinite(numbers)) {
      double[] more = new double[length()];
      for (int i = 0; i < more.length; i++) {
        if (!Double.isFinite(numbers[i])) {
          more[i] = numbers[i];
          numbers[i] = 0;
        }
      }
      addOthers(more);
    }
    finite.add(numbers);
  }

  void add(SummedBlock other) {
    finite.add(other.finite);
    if (other.others != null) {
      addOthers(other.others);
    }
  }

  void clear() {
    finite.clear();
    others = null;
  }

  private boolean allFinite(double[] numbers) {
    for (int i = 0; i < length(); i++) {
      if (!(Math.abs(numbers[i]) <= Double.MAX_VALUE)) {
        return false;
      }
    }
    return true;
  }

  private void addOthers(double[] more) {
    if (others == null) {
      others = Arrays.copyOf(more, more.length);
      return;
    }
    for (int i = 0; i < more.length; i++) {
      others[i] += more[i];
    }
  }
}
