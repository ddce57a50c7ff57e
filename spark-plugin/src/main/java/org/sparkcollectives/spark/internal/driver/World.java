package org.sparkcollectives.spark.internal.driver;

import org.sparkcollectives.spark.internal.protocol.StageAttempt;

/**
 * The world group of a stage, or a group of replicas.
 *
 * @param keyPrefix of the keys among which it has its own
 */
record World(StageAttempt stage, String keyPrefix, String name) {}
