package org.sparkcollectives.testing;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test, a test class, and an invocation of a parameterized class, that leaves threads of
 * ours behind, or at whose end one of our threads has no handler of uncaught exceptions. Every
 * thread that this project starts has a name with {@code collectives-}.
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
  private static final int TOP_FRAMES = 5;

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
    // A thread that is ending has lost its handler already.
    Eventually.holds(
        () -> withoutHandler().isEmpty(),
        () ->
            "at the end of "
                + path(context)
                + " these threads have no handler: "
                + withoutHandler());
    Eventually.holds(
        () -> before.containsAll(ourThreads().keySet()),
        () -> {
          Map<Thread, StackTraceElement[]> left = ourThreads();
          left.keySet().removeAll(before);
          return left.entrySet().stream()
              .map(each -> "  " + each.getKey().getName() + topOf(each.getValue()))
              .sorted()
              .collect(Collectors.joining("\n", path(context) + " left threads behind:\n", "\n"));
        });
  }

  /** Returns the names from the test class on, with that of a parameterized class's invocation. */
  private static String path(ExtensionContext context) {
    String name = context.getDisplayName();
    return context
        .getParent()
        .filter(parent -> parent.getTestClass().isPresent())
        .map(parent -> path(parent) + " > " + name)
        .orElse(name);
  }

  /** Returns where the thread is, and which code outside the JDK has brought it there. */
  private static String topOf(StackTraceElement[] frames) {
    return IntStream.range(0, frames.length)
        .filter(i -> i == 0 || frames[i].getModuleName() == null)
        .limit(TOP_FRAMES)
        .mapToObj(i -> frames[i])
        .map(
            each ->
                each.getClassName().replaceAll(".*\\.", "")
                    + "."
                    + each.getMethodName()
                    + ":"
                    + each.getLineNumber())
        .collect(Collectors.joining(" < ", " at ", ""));
  }

  private static Map<Thread, StackTraceElement[]> ourThreads() {
    Map<Thread, StackTraceElement[]> threads = new HashMap<>(Thread.getAllStackTraces());
    threads.keySet().removeIf(each -> !each.getName().contains(NAME));
    return threads;
  }

  private static List<String> withoutHandler() {
    return ourThreads().keySet().stream()
        .filter(each -> each.getUncaughtExceptionHandler() instanceof ThreadGroup)
        .map(Thread::getName)
        .toList();
  }

  private static ExtensionContext.Store store(ExtensionContext context) {
    return context.getStore(
        ExtensionContext.Namespace.create(LeakCheck.class, context.getUniqueId()));
  }
}
