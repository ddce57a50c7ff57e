package org.sparkcollectives.spark;

import org.sparkcollectives.Failure;

/**
 * What a rank tells the driver's store before it joins the world group of its stage.
 *
 * @param stage the attempt that its task is of
 * @param call the call of {@link BarrierStage} that the stage is of, or an empty text
 * @param group the name of the world group
 * @param ifLost what the other ranks are told if this one's process is lost before they have met
 */
record JoinRequest(StageAttempt stage, String call, String group, Failure ifLost) {}
