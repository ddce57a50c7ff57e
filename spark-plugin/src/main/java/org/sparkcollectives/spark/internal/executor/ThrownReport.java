package org.sparkcollectives.spark.internal.executor;

import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskFailureListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.spark.internal.protocol.ThrownException;
import org.sparkcollectives.spi.failure.Causes;

/**
 * Sends the driver the exception with which a rank fails its group.
 *
 * <p>Spark's own report of it may never come: the other ranks fail because of this one, and the
 * stage with them, so that Spark may kill this task before it has reported.
 */
final class ThrownReport implements TaskFailureListener {

  private static final Logger LOG = LoggerFactory.getLogger(ThrownReport.class);

  private final DriverLink driver;
  private final String call;

  /**
   * Creates the report.
   *
   * @param call the call of {@code BarrierStage} that the task belongs to
   */
  ThrownReport(DriverLink driver, String call) {
    this.driver = driver;
    this.call = call;
  }

  /**
   * Sends the exception, unless it is that of a rank that was killed or failed because of another.
   * Waits for no reply.
   */
  @Override
  public void onTaskFailure(TaskContext task, Throwable thrown) {
    if (task.isInterrupted() || Causes.of(thrown).anyMatch(CollectiveException.class::isInstance)) {
      return;
    }
    try {
      StageAttempt stage = new StageAttempt(task.stageId(), task.stageAttemptNumber());
      driver.ask(StoreMessages.thrown(stage, call, ThrownException.encode(thrown)));
    } catch (RuntimeException e) {
      LOG.debug("The driver is not sent what task {} has thrown", task.taskAttemptId(), e);
    }
  }
}
