package org.sparkcollectives.gpu.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import java.io.PrintWriter;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs the tests with the tag {@code gpu}, on a machine that has a GPU or in a JVM with the fake.
 * The only argument is optional: a pattern of class names.
 */
public final class GpuTestProgram {

  /** The line that is printed last when all tests have passed. */
  public static final String PASSED = "All tests of the GPU have passed: ";

  private GpuTestProgram() {}

  /** Throws if a test fails, or if there is none. */
  public static void main(String[] arguments) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectPackage("org.sparkcollectives.gpu"))
            .filters(
                TagFilter.includeTags("gpu"),
                ClassNameFilter.includeClassNamePatterns(
                    arguments.length > 0 ? arguments[0] : ".*Test"))
            .build();
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, summary, new Progress());
    summary.getSummary().printFailuresTo(new PrintWriter(System.out, true, UTF_8), 40);
    long succeeded = summary.getSummary().getTestsSucceededCount();
    if (summary.getSummary().getTotalFailureCount() > 0 || succeeded == 0) {
      throw new AssertionError(summary.getSummary().getTotalFailureCount() + " tests failed");
    }
    System.out.println(PASSED + succeeded);
  }

  private static final class Progress implements TestExecutionListener {

    @Override
    public void executionStarted(TestIdentifier test) {
      if (test.isTest()) {
        System.out.println("begins  " + test.getLegacyReportingName());
      }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      if (test.isTest()) {
        System.out.println(result.getStatus() + " " + test.getLegacyReportingName());
      }
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
      System.out.println("SKIPPED " + test.getLegacyReportingName() + ": " + reason);
    }
  }
}
