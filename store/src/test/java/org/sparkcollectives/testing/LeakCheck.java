package org.sparkcollectives.testing;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test, a test class, and an invocation of a parameterized class, that leaves threads of
 * ours behind. Every thread that this project starts has a name with {@code collectives-}.
 *
 * <p>Checks after the test's own {@code @AfterEach}, and waits for a while for threads that are
 * ending.
 */
public final class LeakCheck
    implements BeforeAllCallback,
        AfterAllCallback,
        BeforeClassTemplateInvocationCallback,
        AfterClassTemplateInvocationCallback,
        BeforeEachCallback,
        AfterEachCallback {

  private static final String NAME = "collectives-";

  @Override
  public void beforeAll(ExtensionContext context) {
    remember(context);
  }

  @Override
  public void beforeClassTemplateInvocation(ExtensionContext context) {
    remember(context);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    remember(context);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    check(context);
  }

  @Override
  public void afterClassTemplateInvocation(ExtensionContext context) {
    check(context);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    check(context);
  }

  private static void remember(ExtensionContext context) {
    store(context).put("threads", ourThreads().keySet());
  }

  private static void check(ExtensionContext context) {
    Set<?> before = store(context).get("threads", Set.class);
    Eventually.holds(
        () -> before.containsAll(ourThreads().keySet()),
        () -> {
          Map<Thread, String> left = ourThreads();
          left.keySet().removeAll(before);
          return context.getDisplayName() + " left threads behind: " + left.values();
        });
  }

  private static Map<Thread, String> ourThreads() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(entry -> entry.getKey().getName().contains(NAME))
        .collect(
            Collectors.toMap(
                Map.Entry::getKey,
                entry -> entry.getKey().getName() + " at " + Arrays.toString(entry.getValue())));
  }

  private static ExtensionContext.Store store(ExtensionContext context) {
    return context.getStore(
        ExtensionContext.Namespace.create(LeakCheck.class, context.getUniqueId()));
  }
}
