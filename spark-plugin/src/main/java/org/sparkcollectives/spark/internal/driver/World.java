package org.sparkcollectives.spark.internal.driver;

import org.sparkcollectives.spark.internal.protocol.StageAttempt;

/** The world group of a stage. */
record World(StageAttempt stage, String name) {}
