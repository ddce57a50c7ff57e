package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Tests that any sequence of calls has the results that it has on a plain map of values and queues.
 */
class StoreModelTest {

  private enum Call {
    SET,
    GET,
    COMPARE_SET,
    ADD,
    APPEND,
    CHECK,
    DELETE,
    PUSH,
    POP,
    LENGTH,
    COUNT
  }

  private record Step(Call call, String key, String value, String other) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<String> keys = Arbitraries.of("a", "b", "a/b");
    Arbitrary<String> values = Arbitraries.of("", "1", "-7", "x");
    return Combinators.combine(Arbitraries.of(Call.values()), keys, values, values)
        .as(Step::new)
        .list()
        .ofMaxSize(40);
  }

  @Property(tries = 500)
  void aHashStoreIsAMapOfValuesAndQueues(@ForAll("steps") List<Step> steps) {
    try (Store store = new HashStore()) {
      compare(steps, List.of(store));
    }
  }

  @Property(tries = 60)
  void aFileStoreIsAMapOfValuesAndQueuesThroughAnyOfItsHandles(@ForAll("steps") List<Step> steps)
      throws IOException {
    Path folder = Files.createTempDirectory("store-model");
    Path path = folder.resolve("store");
    try (Store first = new FileStore(path, 2);
        Store second = new FileStore(path, 2)) {
      compare(steps, List.of(first, second));
    }
    Files.delete(folder);
  }

  private static void compare(List<Step> steps, List<Store> handles) {
    Model model = new Model();
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      assertThat(onStore(handles.get(i % handles.size()), step))
          .as("call %d: %s", i, step)
          .isEqualTo(model.apply(step));
    }
    assertThat(handles.get(0).listKeys()).containsExactlyInAnyOrderElementsOf(model.keys());
  }

  private static String onStore(Store store, Step step) {
    String key = step.key;
    try {
      return switch (step.call) {
        case SET -> {
          store.set(key, bytes(step.value));
          yield "set";
        }
        case GET -> store.check(List.of(key)) ? text(store.get(key)) : "missing";
        case COMPARE_SET -> text(store.compareSet(key, bytes(step.other), bytes(step.value)));
        case ADD -> String.valueOf(store.add(key, step.value.length() + 1L));
        case APPEND -> {
          store.append(key, bytes(step.value));
          yield "appended";
        }
        case CHECK -> String.valueOf(store.check(List.of(key)));
        case DELETE -> String.valueOf(store.deleteKey(key));
        case PUSH -> {
          store.queuePush(key, bytes(step.value));
          yield "pushed";
        }
        case POP -> text(store.queuePop(key, false));
        case LENGTH -> String.valueOf(store.queueLength(key));
        case COUNT -> String.valueOf(store.numKeys());
      };
    } catch (StoreException e) {
      return "refused";
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, UTF_8);
  }

  /** A model of a store, written as simply as can be. */
  private static final class Model {

    private final Map<String, String> values = new HashMap<>();
    private final Map<String, Deque<String>> queues = new HashMap<>();

    List<String> keys() {
      return Stream.concat(values.keySet().stream(), queues.keySet().stream()).toList();
    }

    String apply(Step step) {
      String key = step.key;
      boolean forQueues =
          step.call == Call.PUSH || step.call == Call.POP || step.call == Call.LENGTH;
      boolean forBoth =
          step.call == Call.CHECK || step.call == Call.DELETE || step.call == Call.COUNT;
      if (!forBoth && (forQueues ? values.containsKey(key) : queues.containsKey(key))) {
        return "refused";
      }
      String value = values.get(key);
      return switch (step.call) {
        case SET -> {
          values.put(key, step.value);
          yield "set";
        }
        case GET -> value == null ? "missing" : value;
        case COMPARE_SET -> {
          if (value == null ? step.other.isEmpty() : value.equals(step.other)) {
            values.put(key, step.value);
            yield step.value;
          }
          yield value == null ? step.other : value;
        }
        case ADD -> add(key, value, step.value.length() + 1L);
        case APPEND -> {
          values.put(key, (value == null ? "" : value) + step.value);
          yield "appended";
        }
        case CHECK -> String.valueOf(value != null || queues.containsKey(key));
        case DELETE -> String.valueOf(values.remove(key) != null || queues.remove(key) != null);
        case PUSH -> {
          queues.computeIfAbsent(key, k -> new ArrayDeque<>()).add(step.value);
          yield "pushed";
        }
        case POP -> pop(key);
        case LENGTH -> String.valueOf(queues.containsKey(key) ? queues.get(key).size() : 0);
        case COUNT -> String.valueOf(values.size() + queues.size());
      };
    }

    private String add(String key, String value, long amount) {
      if (value != null && !value.matches("-?[0-9]{1,18}")) {
        return "refused";
      }
      long sum = (value == null ? 0 : Long.parseLong(value)) + amount;
      values.put(key, String.valueOf(sum));
      return String.valueOf(sum);
    }

    private String pop(String key) {
      Deque<String> queue = queues.get(key);
      if (queue == null) {
        return "refused";
      }
      String oldest = queue.remove();
      if (queue.isEmpty()) {
        queues.remove(key);
      }
      return oldest;
    }
  }
}
