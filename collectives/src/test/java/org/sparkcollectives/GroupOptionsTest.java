package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class GroupOptionsTest {

  /** One change for each option, away from its default. */
  private static final Map<String, UnaryOperator<GroupOptions>> CHANGES = changes();

  private static Map<String, UnaryOperator<GroupOptions>> changes() {
    Map<String, UnaryOperator<GroupOptions>> changes = new LinkedHashMap<>();
    changes.put("name", options -> options.withName("pipeline"));
    changes.put("description", options -> options.withDescription("stage 2 of 4"));
    changes.put("timeout", options -> options.withTimeout(Duration.ofMillis(12_345)));
    changes.put("transports", options -> options.withTransports("tcp"));
    changes.put("backend", options -> options.withBackend("cpu:fake"));
    changes.put("algorithms", options -> options.withAlgorithms("RingAllReduce"));
    changes.put("debugLevel", options -> options.withDebugLevel(DebugLevel.DETAIL));
    changes.put("nanCheck", options -> options.withNanCheck(true));
    changes.put("errorHandling", options -> options.withErrorHandling(ErrorHandling.SKIP_CLEAN_UP));
    changes.put("ranks", options -> options.withRanks(3, 1, 2));
    changes.put("localSynchronization", options -> options.withLocalSynchronization(true));
    return changes;
  }

  /** Returns the result of every accessor. */
  private static Map<String, Object> values(GroupOptions options) {
    Map<String, Object> values = new LinkedHashMap<>();
    for (Method method : GroupOptions.class.getDeclaredMethods()) {
      if (isAccessor(method)) {
        try {
          Object value = method.invoke(options);
          values.put(method.getName(), value instanceof int[] ints ? Arrays.toString(ints) : value);
        } catch (ReflectiveOperationException e) {
          throw new LinkageError(e.getMessage(), e);
        }
      }
    }
    return values;
  }

  private static boolean isAccessor(Method method) {
    return Modifier.isPublic(method.getModifiers())
        && !Modifier.isStatic(method.getModifiers())
        && method.getParameterCount() == 0;
  }

  private static GroupOptions copy(GroupOptions options) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
        out.writeObject(options);
      }
      try (ObjectInputStream in =
          new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
        return (GroupOptions) in.readObject();
      }
    } catch (IOException | ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void everyOptionIsTestedHere() {
    assertThat(values(GroupOptions.defaults()).keySet())
        .containsExactlyInAnyOrderElementsOf(CHANGES.keySet());
    Set<String> changeable =
        Arrays.stream(GroupOptions.class.getDeclaredMethods())
            .map(Method::getName)
            .filter(name -> name.matches("with.+"))
            .map(name -> Character.toLowerCase(name.charAt(4)) + name.substring(5))
            .collect(Collectors.toSet());
    assertThat(changeable).isEqualTo(CHANGES.keySet());
  }

  @Test
  void eachOptionIsChangedAloneAndSurvivesSerialization() {
    Map<String, Object> defaults = values(GroupOptions.defaults());
    assertThat(values(copy(GroupOptions.defaults()))).isEqualTo(defaults);
    CHANGES.forEach(
        (name, change) -> {
          GroupOptions changed = change.apply(GroupOptions.defaults());
          Map<String, Object> expected = new LinkedHashMap<>(defaults);
          Object value = values(changed).get(name);
          assertThat(value).as(name).isNotEqualTo(defaults.get(name));
          expected.put(name, value);
          assertThat(values(changed)).isEqualTo(expected);
          assertThat(values(copy(changed))).isEqualTo(expected);
        });
    assertThat(values(GroupOptions.defaults())).isEqualTo(defaults);
  }

  @Test
  void allOptionsTogetherSurviveSerialization() {
    GroupOptions all = GroupOptions.defaults();
    for (UnaryOperator<GroupOptions> change : CHANGES.values()) {
      all = change.apply(all);
    }
    assertThat(values(copy(all))).isEqualTo(values(all)).doesNotContainValue(null);
  }

  @Test
  void whatIsLeftOpenIsEmptyAndNeverNull() {
    assertThat(values(GroupOptions.defaults()))
        .containsEntry("name", "")
        .containsEntry("description", "")
        .containsEntry("timeout", Optional.empty())
        .containsEntry("transports", List.of())
        .containsEntry("backend", Optional.empty())
        .containsEntry("debugLevel", Optional.empty())
        .containsEntry("nanCheck", Optional.empty())
        .containsEntry("errorHandling", Optional.empty())
        .doesNotContainValue(null);
  }

  @Test
  void arraysGivenAndTakenAreCopies() {
    int[] ranks = {1, 2};
    String[] transports = {"heap"};
    GroupOptions options = GroupOptions.defaults().withRanks(ranks).withTransports(transports);
    ranks[0] = 7;
    transports[0] = "carrier pigeon";
    options.ranks()[1] = 7;
    assertThat(options.ranks()).containsExactly(1, 2);
    assertThat(options.transports()).containsExactly("heap");
  }

  @Test
  void whatCannotBeIsRefusedAtOnce() {
    GroupOptions options = GroupOptions.defaults();
    for (Duration wrong :
        List.of(
            Duration.ZERO,
            Duration.ofNanos(-1),
            GroupOptions.LONGEST_TIMEOUT.plusNanos(1),
            Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> options.withTimeout(wrong))
          .withMessageContaining("must be more than zero and 10000 days at the most, not " + wrong);
    }
    assertThat(options.withTimeout(GroupOptions.LONGEST_TIMEOUT).timeout())
        .contains(Duration.ofDays(10_000));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> options.withTransports("tcp", "carrier pigeon"))
        .withMessage("Unknown transport \"carrier pigeon\"; there are [heap, shm, tcp]");
    assertThatIllegalArgumentException()
        .isThrownBy(options::withTransports)
        .withMessage("A group needs at least one transport");
    assertThatNullPointerException().isThrownBy(() -> options.withName(null)).withMessage("name");
    assertThatNullPointerException()
        .isThrownBy(() -> options.withDebugLevel(null))
        .withMessage("debug level");
    assertThatNullPointerException()
        .isThrownBy(() -> options.withErrorHandling(null))
        .withMessage("error handling");
  }
}
