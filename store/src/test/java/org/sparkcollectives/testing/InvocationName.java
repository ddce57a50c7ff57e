package org.sparkcollectives.testing;

import org.junit.jupiter.api.extension.BeforeClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * Puts the name of a parameterized class's invocation before the message of each failure. The
 * summary of a build names only the class and the method.
 */
public final class InvocationName
    implements BeforeClassTemplateInvocationCallback,
        TestExecutionExceptionHandler,
        LifecycleMethodExecutionExceptionHandler {

  @Override
  public void beforeClassTemplateInvocation(ExtensionContext context) {
    store(context).put("name", context.getDisplayName());
  }

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    fail(context, failure);
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    fail(context, failure);
  }

  @Override
  public void handleAfterEachMethodExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    fail(context, failure);
  }

  private static void fail(ExtensionContext context, Throwable failure) throws Throwable {
    if (failure instanceof TestAbortedException) {
      throw failure;
    }
    AssertionError named = new AssertionError(store(context).get("name") + ": " + failure, failure);
    named.setStackTrace(failure.getStackTrace());
    throw named;
  }

  private static ExtensionContext.Store store(ExtensionContext context) {
    return context.getStore(ExtensionContext.Namespace.create(InvocationName.class));
  }
}
