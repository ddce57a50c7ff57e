package org.sparkcollectives.lightgbm;

import com.sun.jna.Memory;
import com.sun.jna.ptr.LongByReference;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkcollectives.config.NearestName;

/** The names of the parameters that LightGBM's library knows, aliases included. */
final class ParameterNames {

  private static final Pattern PARAMETER = Pattern.compile("\"([^\"]+)\"\\s*:\\s*\\[([^\\]]*)\\]");
  private static final Pattern ALIAS = Pattern.compile("\"([^\"]+)\"");

  /** Each name, and the parameter's own. */
  private final Map<String, String> known = new HashMap<>();

  private ParameterNames(String json) {
    Matcher parameters = PARAMETER.matcher(json);
    while (parameters.find()) {
      String own = parameters.group(1);
      known.put(own, own);
      ALIAS.matcher(parameters.group(2)).results().forEach(each -> known.put(each.group(1), own));
    }
  }

  /** Asks the library. */
  static ParameterNames of(LightGbmLibrary library) {
    LongByReference needed = new LongByReference();
    try (Memory first = new Memory(1 << 16)) {
      library.check(library.functions().LGBM_DumpParamAliases(first.size(), needed, first));
      if (needed.getValue() <= first.size()) {
        return new ParameterNames(first.getString(0));
      }
    } catch (UnsatisfiedLinkError e) {
      throw new LightGbmException(
          "This LightGBM cannot list its parameters: take version 3.3.5 or later", e);
    }
    try (Memory large = new Memory(needed.getValue())) {
      library.check(library.functions().LGBM_DumpParamAliases(large.size(), needed, large));
      return new ParameterNames(large.getString(0));
    }
  }

  /**
   * Returns parameters by their own names instead of aliases.
   *
   * @throws IllegalArgumentException if LightGBM does not know one, or one is given by two names
   */
  Map<String, String> ownNames(Map<String, String> parameters) {
    Map<String, String> own = new TreeMap<>();
    Map<String, String> givenAs = new HashMap<>();
    parameters.forEach(
        (name, value) -> {
          String parameter = known.get(name);
          if (parameter == null) {
            throw new IllegalArgumentException(
                "LightGBM has no parameter " + name + ", and would ignore it" + nearest(name));
          }
          String other = givenAs.put(parameter, name);
          if (other != null) {
            throw new IllegalArgumentException(
                "The parameters "
                    + other
                    + " and "
                    + name
                    + " are the same to LightGBM: leave one out");
          }
          own.put(parameter, value);
        });
    return own;
  }

  /** Asks for the nearest of the parameters' own names, or for that of the nearest alias. */
  private String nearest(String name) {
    String own = NearestName.question(name, known.values());
    return own.isEmpty()
        ? NearestName.of(name, known.keySet())
            .map(alias -> ". Did you mean " + known.get(alias) + "?")
            .orElse("")
        : own;
  }
}
