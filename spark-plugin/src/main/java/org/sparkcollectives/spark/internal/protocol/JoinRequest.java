package org.sparkcollectives.spark.internal.protocol;

import org.sparkcollectives.Failure;

/**
 * The request of a rank to the driver's store before it joins the world group of its stage.
 *
 * @param stage the attempt that its task belongs to
 * @param call the call of {@code BarrierStage} that the stage belongs to, or an empty text
 * @param group the name of the world group; an empty text for a group that does not meet now
 * @param ifLost the failure that is reported to the other ranks if this one's process is lost
 *     before they have met
 */
public record JoinRequest(StageAttempt stage, String call, String group, Failure ifLost) {}
