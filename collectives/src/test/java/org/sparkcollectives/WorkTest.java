package org.sparkcollectives;

/** Runs the contracts of works and of waiting for them, for every operation. */
class WorkTest extends PathsUnderTest implements WaitingContract, WorkResultsContract {}
