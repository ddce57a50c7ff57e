package org.sparkcollectives.ddp;

import java.util.List;
import java.util.Map;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** Compares the settings of a hook over the ranks of a group. */
final class HookAgreement {

  private final String hook;
  private final List<String> names;
  private final List<Object> own;
  private final long[] all;

  private HookAgreement(String hook, Map<String, Object> settings, long[] all) {
    this.hook = hook;
    this.names = List.copyOf(settings.keySet());
    this.own = List.copyOf(settings.values());
    this.all = all;
  }

  /**
   * Gathers the settings of all ranks; blocks for the group's timeout at most.
   *
   * @param settings integers, doubles and truth values by their names, in the same order everywhere
   */
  static HookAgreement gather(ProcessGroup group, String hook, Map<String, Object> settings) {
    long[] own = settings.values().stream().mapToLong(HookAgreement::bits).toArray();
    long[] all = new long[own.length * group.size()];
    group.allGather(Tensor.of(all), Tensor.of(own)).await();
    return new HookAgreement(hook, settings, all);
  }

  private static long bits(Object value) {
    if (value instanceof Double number) {
      return Double.doubleToLongBits(number);
    }
    if (value instanceof Boolean truth) {
      return truth ? 1 : 0;
    }
    return ((Number) value).longValue();
  }

  /**
   * Refuses settings that differ.
   *
   * @param except names of settings that may differ
   * @throws IllegalStateException on all ranks, naming the first difference
   */
  void check(List<String> except) {
    for (int i = 0; i < all.length; i++) {
      int setting = i % names.size();
      if (all[i] != all[setting] && !except.contains(names.get(setting))) {
        throw new IllegalStateException(
            hook
                + " needs the same options, and the state of the same step, on all ranks: "
                + names.get(setting)
                + " is "
                + text(setting, all[setting])
                + " on rank 0, and "
                + text(setting, all[i])
                + " on rank "
                + i / names.size());
      }
    }
  }

  private String text(int setting, long bits) {
    if (own.get(setting) instanceof Double) {
      return String.valueOf(Double.longBitsToDouble(bits));
    }
    return own.get(setting) instanceof Boolean ? String.valueOf(bits != 0) : String.valueOf(bits);
  }

  /** Returns the largest that any rank has of an integer. */
  long largest(String name) {
    int setting = names.indexOf(name);
    long largest = all[setting];
    for (int i = setting; i < all.length; i += names.size()) {
      largest = Math.max(largest, all[i]);
    }
    return largest;
  }
}
